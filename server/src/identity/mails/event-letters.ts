import * as z from 'zod';
import type { Letter } from './letter.ts';

export const EventRegistration = z.object({
  status: z.enum(['confirmed', 'awaiting_payment', 'waitlisted', 'canceled']),
  title: z.string(),
  slug: z.string(),
  starts_at: z.string(),
  /** IANA name. */
  time_zone: z.string(),
  /** Null: nothing is to be paid. */
  price_usd: z.string().nullable(),
  is_refunded: z.boolean(),
  /** Until when a place is held for payment. */
  pay_by: z.string().nullable(),
});
export type EventRegistration = z.infer<typeof EventRegistration>;

/** How a registration stands from now on. */
export function composeEventRegistration(told: EventRegistration, eventUrl: string): Letter {
  const { title, starts_at, time_zone, price_usd } = told;
  const { subject, paragraphs, label } = wordsFor(told);
  return {
    subject,
    preview: paragraphs[0] ?? subject,
    paragraphs,
    facts: [
      ['Event', title],
      ['Begins', timeThere(starts_at, time_zone)],
      ...(price_usd === null ? [] : [['Price', `$${price_usd}`] as const]),
    ],
    action: { label, url: eventUrl },
    footnote: 'You get this mail because your address was registered for this event. If that was not you, do nothing, or answer this mail.',
  };
}

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
            : [`Log in with this address and pay by ${timeThere(pay_by, time_zone)}; then the place goes to whoever waits for one.`]),
        ],
        label: 'Pay for the place',
      };
    case 'waitlisted':
      return {
        subject: `You are on the waitlist: ${title}`,
        paragraphs: [
          `All places at “${title}” are taken, and you are on the waitlist.`,
          'When a place falls free it goes to whoever has waited longest. A mail tells you when it is your turn.',
        ],
        label: 'See the event',
      };
    case 'canceled':
      return {
        subject: `Your registration has ended: ${title}`,
        paragraphs: [
          is_refunded
            ? `What you paid for your place at “${title}” goes back to where it came from, and the place to whoever waits for one.`
            : `You are not registered for “${title}” any more.`,
        ],
        label: 'See the event',
      };
    default:
      return status satisfies never;
  }
}

/** `5 March 2027, 18:00 CET` */
const timeThere = (at: string, timeZone: string): string => {
  const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone }).format(new Date(at));
  const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZoneName: 'short', timeZone }).format(
    new Date(at),
  );
  return `${date}, ${time}`;
};
