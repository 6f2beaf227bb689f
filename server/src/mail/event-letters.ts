import * as z from 'zod';
import type { Letter } from './letter.ts';

export const EventRegistration = z.object({
  status: z.enum(['confirmed', 'awaiting_payment', 'waitlisted', 'canceled']),
  title: z.string(),
  slug: z.string(),
  starts_at: z.string(),
  /** IANA name. */
  time_zone: z.string(),
  /** Null: free of charge. */
  price_usd: z.string().nullable(),
  is_refunded: z.boolean(),
  /** Until when a place is held for payment. */
  pay_by: z.string().nullable(),
  /** The subject of the payment link; only if a place is held. */
  pay_reference: z.string().nullish(),
  /** The cancellation link; left out where cancellation is not possible. */
  cancel_token: z.string().optional(),
});
export type EventRegistration = z.infer<typeof EventRegistration>;

interface EventUrls {
  /** Where a place is held, the page to pay for it. */
  readonly eventUrl: string;
  readonly cancelUrl: string | undefined;
}

/** The new status of a registration. */
export function composeEventRegistration(told: EventRegistration, { eventUrl, cancelUrl }: EventUrls): Letter {
  const { title, starts_at, time_zone, price_usd } = told;
  const { subject, paragraphs, label } = wordsFor(told);
  return {
    subject,
    preview: paragraphs[0] ?? subject,
    paragraphs: cancelUrl === undefined ? paragraphs : [...paragraphs, `You cannot come? Give it up for somebody else: ${cancelUrl}`],
    facts: [
      ['Event', title],
      ['Begins', timeThere(starts_at, time_zone)],
      ...(price_usd === null ? [] : [['Price', `$${price_usd}`] as const]),
    ],
    action: { label, url: eventUrl },
    footnote: 'You get this mail because your address was registered for this event. If that was not you, do nothing.',
  };
}

export const EventPaymentReturned = z.object({ title: z.string(), slug: z.string() });

/** A payment arrived for a place that was no longer held. */
export const composeEventPaymentReturned = ({ title }: z.infer<typeof EventPaymentReturned>, eventUrl: string): Letter => ({
  subject: `Your payment goes back: ${title}`,
  preview: 'No place was held for it any more.',
  paragraphs: [
    `A payment for a place at “${title}” has come in, but no place was held for it any more, or none had to be paid. It goes back to where it came from, which may take some days.`,
    'Your registration stays as it was; the mails before this one have its status.',
  ],
  action: { label: 'See the event', url: eventUrl },
  footnote: 'You get this mail because your address was registered for this event.',
});

function wordsFor({ status, title, time_zone, price_usd, pay_by, is_refunded }: EventRegistration) {
  switch (status) {
    case 'confirmed':
      return { subject: `You have a place: ${title}`, paragraphs: [`Your place at “${title}” is confirmed.`], label: 'See the event' };
    case 'awaiting_payment':
      return {
        subject: `A place is held for you: ${title}`,
        paragraphs: [
          `A place at “${title}” is held for you. It is yours once its price of $${price_usd} is paid.`,
          ...(pay_by === null
            ? []
            : [`Pay by ${timeThere(pay_by, time_zone)}; after that the place goes to the next person on the waitlist.`]),
        ],
        label: 'Pay for the place',
      };
    case 'waitlisted':
      return {
        subject: `You are on the waitlist: ${title}`,
        paragraphs: [
          `All places at “${title}” are taken, and you are on the waitlist.`,
          'A place that becomes free goes to the person who has waited longest. A mail tells you when it is your turn.',
        ],
        label: 'See the event',
      };
    case 'canceled':
      return {
        subject: `Your registration has ended: ${title}`,
        paragraphs: [
          is_refunded
            ? `What you paid for your place at “${title}” is refunded, and the place goes to the next person on the waitlist.`
            : `You are not registered for “${title}” any more.`,
        ],
        label: 'See the event',
      };
    default:
      return status satisfies never;
  }
}

export const EventChanged = z.object({
  /** It does not take place. */
  is_off: z.boolean(),
  title: z.string(),
  slug: z.string(),
  starts_at: z.string(),
  ends_at: z.string(),
  /** IANA name. */
  time_zone: z.string(),
  place: z.string().nullable(),
  online_url: z.string().nullable(),
});
export type EventChanged = z.infer<typeof EventChanged>;

/** Where and when an event takes place from now on, or that it does not. */
export function composeEventChanged(
  { is_off, title, starts_at, ends_at, time_zone, place, online_url }: EventChanged,
  eventUrl: string,
): Letter {
  const sentence = is_off
    ? `“${title}” does not take place.`
    : `“${title}” takes place at another time or in another place. Your registration stays as it is.`;
  return {
    subject: `${is_off ? 'Called off' : 'Changed'}: ${title}`,
    preview: sentence,
    paragraphs: [sentence, ...(is_off ? ['If you paid for your place, the organisers return what you paid.'] : [])],
    facts: is_off
      ? [['It was to begin', timeThere(starts_at, time_zone)]]
      : [
          ['Begins', timeThere(starts_at, time_zone)],
          ['Ends', timeThere(ends_at, time_zone)],
          ...(place === null ? [] : [['Where', place] as const]),
          ...(online_url === null ? [] : [['Online', online_url] as const]),
        ],
    ...(!is_off && { action: { label: 'See the event', url: eventUrl } }),
    footnote: 'You get this mail because your address is registered for this event.',
  };
}

/** `5 March 2027, 18:00 CET` */
const timeThere = (at: string, timeZone: string): string => {
  const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone }).format(new Date(at));
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZoneName: 'short', timeZone }).format(
    new Date(at),
  );
  return `${date}, ${time}`;
};
