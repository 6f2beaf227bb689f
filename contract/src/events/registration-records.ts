import * as z from 'zod';
import { isPlainText, MarketingConsentTick, NOT_PLAIN, prose, Timestamp, Usd, Uuid } from '../conventions.ts';
import { EmailAddress } from '../email-address.ts';
import { SITE_EVENT_EXAMPLE, siteEventFields } from './site-event-records.ts';

export const REGISTRATION_STATUSES = ['confirmed', 'awaiting_payment', 'waitlisted', 'canceled'] as const;
export const RegistrationStatus = z.enum(REGISTRATION_STATUSES).meta({
  id: 'RegistrationStatus',
  description:
    '`confirmed`: the place is yours. `awaiting_payment`: a place is held until `pay_by`. `waitlisted`: all places were taken; the next one that falls free goes to the person who has waited longest. `canceled`: registering again starts anew.',
});
export type RegistrationStatus = z.infer<typeof RegistrationStatus>;

export const RegistrationPayment = z.enum(['not_required', 'due', 'paid', 'refunded', 'waived']).meta({
  id: 'RegistrationPayment',
  description: '`waived`: an administrator confirmed the place without a payment.',
});

const text = (max: number) => z.string().trim().min(1).max(max).refine(isPlainText, NOT_PLAIN);
export const RegistrantEmail = EmailAddress.meta({
  description: 'The address of the registration, in upper or lower case.',
  examples: ['ada@example.com'],
});
const Name = text(200).meta({ description: 'For people.', examples: ['Ada Lovelace'] });
const Company = text(200).meta({ description: 'Where they come from.', examples: ['Analytical Engines'] });

export const VibethonEventResponse = z
  .object({
    ...siteEventFields,
    requires_payment: z.boolean().meta({ description: 'Whether a place has to be paid before it is confirmed.', examples: [false] }),
  })
  .meta({
    id: 'VibethonEventResponse',
    description: 'The Vibethon. It exists from the first start and its slug is fixed; administrators can change everything else.',
    examples: [{ ...SITE_EVENT_EXAMPLE, slug: 'vibethon', title: 'Vibethon', requires_payment: false }],
  });
export type VibethonEventResponse = z.infer<typeof VibethonEventResponse>;

export const VibethonRegistrationRequest = z
  .strictObject({
    email: RegistrantEmail,
    name: Name.optional(),
    company: Company.optional(),
    message: prose(2_000)
      .optional()
      .meta({ description: 'A message to the organisers.', examples: ['I bring a robot.'] }),
    marketing_consent: MarketingConsentTick,
  })
  .meta({
    id: 'VibethonRegistrationRequest',
    description: 'The participant. No password is set here: a mail leads the person who reads mail at the address to their account.',
    examples: [{ email: 'ada@example.com', name: 'Ada Lovelace' }],
  });
export type VibethonRegistrationRequest = z.infer<typeof VibethonRegistrationRequest>;

const WaitlistPosition = z
  .int()
  .min(1)
  .nullable()
  .meta({ description: '1 is next; null if not on the waitlist.', examples: [null] });
const PayBy = Timestamp.nullable().meta({ description: 'The end of the hold for payment; null without one.', examples: [null] });

export const VibethonRegistrant = z
  .object({
    user_id: Uuid.nullable().meta({ description: 'The user of the address; null for the second or two until it is linked.' }),
    name: z
      .string()
      .nullable()
      .meta({ examples: ['Ada Lovelace'] }),
    company: z
      .string()
      .nullable()
      .meta({ examples: ['Analytical Engines'] }),
    message: z
      .string()
      .nullable()
      .meta({ examples: ['I bring a robot.'] }),
    note: z.string().meta({ description: 'Notes of administrators.', examples: [''] }),
    payment_id: Uuid.nullable().meta({ description: 'Of `GET /v1/plans/payments`.', examples: [null] }),
    attended_at: Timestamp.nullable().meta({ examples: [null] }),
    confirmed_at: Timestamp.nullable(),
    canceled_at: Timestamp.nullable().meta({ examples: [null] }),
  })
  .meta({ id: 'VibethonRegistrant', description: 'A registration with the notes of administrators.' });
export type VibethonRegistrant = z.infer<typeof VibethonRegistrant>;

const REGISTRATION_EXAMPLE = {
  registration_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  event_slug: 'vibethon',
  email: 'ada@example.com',
  status: 'confirmed',
  waitlist_position: null,
  payment_status: 'not_required',
  price_usd: '0',
  pay_by: null,
  registered_at: '2026-11-21T08:00:00.000Z',
  registrant: null,
};

export const EventRegistrationCancelRequest = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'Of the link in a mail about the registration.', examples: ['AZqi8cLTe26MTR8AqlXud9kC…'] }),
  })
  .meta({ id: 'EventRegistrationCancelRequest', description: 'Proof that the registrant cancels it.' });
export type EventRegistrationCancelRequest = z.infer<typeof EventRegistrationCancelRequest>;

export const VibethonRegistrationResponse = z
  .object({
    registration_id: Uuid,
    event_slug: z.string().meta({ examples: ['vibethon'] }),
    email: z.string().meta({ examples: ['ada@example.com'] }),
    status: RegistrationStatus,
    waitlist_position: WaitlistPosition,
    payment_status: RegistrationPayment,
    price_usd: Usd.meta({ description: 'The price at the time of the registration.' }),
    pay_by: PayBy,
    registered_at: Timestamp,
    registrant: VibethonRegistrant.nullable().meta({
      description: 'For administrators. Null in answers to the public form, which anyone can send with any address.',
      examples: [null],
    }),
  })
  .meta({
    id: 'VibethonRegistrationResponse',
    description: 'A registration for the Vibethon, or for another event.',
    examples: [REGISTRATION_EXAMPLE],
  });
export type VibethonRegistrationResponse = z.infer<typeof VibethonRegistrationResponse>;

export const VibethonRegistrationStatusResponse = z
  .object({
    event_slug: z.string().meta({ examples: ['vibethon'] }),
    email: z.string().meta({ description: 'The address of the request.', examples: ['ada@example.com'] }),
    status: z.enum([...REGISTRATION_STATUSES, 'not_registered']).meta({ examples: ['waitlisted'] }),
    waitlist_position: WaitlistPosition.meta({ examples: [7] }),
    payment_status: RegistrationPayment.nullable().meta({ description: 'Null where there is no registration.' }),
    pay_by: PayBy,
  })
  .meta({ id: 'VibethonRegistrationStatusResponse', description: 'Whether an address is registered, and its status. Nothing else.' });
export type VibethonRegistrationStatusResponse = z.infer<typeof VibethonRegistrationStatusResponse>;

export const VibethonRegistrationAdminUpdateRequest = z
  .strictObject({
    status: z
      .enum(['confirmed', 'waitlisted', 'canceled'])
      .optional()
      .meta({
        description:
          '`confirmed` needs a free place, and waives a payment that is due. `waitlisted` puts somebody who is canceled at the end of the waitlist. `canceled` frees the place for the next person on the waitlist; what was paid has to be refunded instead.',
        examples: ['canceled'],
      }),
    name: Name.nullable().optional(),
    company: Company.nullable().optional(),
    note: prose(5_000)
      .optional()
      .meta({ description: 'For administrators.', examples: ['Speaker'] }),
    attended: z
      .boolean()
      .optional()
      .meta({ description: 'Whether they came.', examples: [true] }),
  })
  .meta({
    id: 'VibethonRegistrationAdminUpdateRequest',
    description: 'What to change; what is left out stays.',
    examples: [{ note: 'Speaker' }],
  });
export type VibethonRegistrationAdminUpdateRequest = z.infer<typeof VibethonRegistrationAdminUpdateRequest>;
