import * as z from 'zod';
import { isPlainText, NOT_PLAIN, Timestamp, Usd, Uuid } from '../conventions.ts';

const ReturnUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .optional()
  .meta({
    description: 'The return URL of the browser. Default: a page of this server.',
    examples: ['https://app.example/events/vibethon'],
  });

export const VibethonCheckoutRequest = z.strictObject({ success_url: ReturnUrl, cancel_url: ReturnUrl }).meta({
  id: 'VibethonCheckoutRequest',
  description: 'Options of the payment of a place.',
  examples: [{ success_url: 'https://app.example/events/vibethon' }],
});
export type VibethonCheckoutRequest = z.infer<typeof VibethonCheckoutRequest>;

export const VibethonCheckoutResponse = z
  .object({
    registration_id: Uuid,
    event_slug: z.string().meta({ examples: ['vibethon'] }),
    status: z.enum(['not_required', 'open', 'completed']).meta({
      description:
        '`open`: pay on the hosted page. `completed`: it is paid. `not_required`: the place is free of charge, or the payment was waived.',
      examples: ['open'],
    }),
    checkout_id: Uuid.nullable().meta({ description: 'For `GET /v1/plans/checkouts/{checkout_id}`, which has its state.' }),
    checkout_url: z
      .string()
      .nullable()
      .meta({
        description: 'Send the browser there; null if there is nothing to pay.',
        examples: ['https://checkout.stripe.com/c/pay/cs_test_1'],
      }),
    amount_usd: Usd.meta({ description: 'The price of the place, as it was at the registration.', examples: ['49'] }),
    expires_at: Timestamp.nullable().meta({ description: 'The end of the payment page and of the hold.' }),
  })
  .meta({ id: 'VibethonCheckoutResponse', description: 'The next step of the payment of a place.' });
export type VibethonCheckoutResponse = z.infer<typeof VibethonCheckoutResponse>;

export const EventRefundRequest = z
  .strictObject({
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'For the audit log.', examples: ['Cannot come'] }),
  })
  .meta({ id: 'EventRefundRequest', description: 'Why a place is refunded.', examples: [{ reason: 'Cannot come' }] });
export type EventRefundRequest = z.infer<typeof EventRefundRequest>;
