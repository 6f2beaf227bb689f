import * as z from 'zod';
import type { Letter } from './letter.ts';
import { readableTime } from './readable-time.ts';

export const BetaInvite = z.object({
  sealed_code: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  /** The words of the sender; `{{name}}` becomes the recipient’s name. */
  subject: z.string().nullable(),
  message: z.string().nullable(),
  /** Its name. */
  plan: z.string().nullable(),
  trial_days: z.number().nullable(),
  credit_usd: z.string().nullable(),
  expires_at: z.string(),
  /** Rows that were written before invitations had it have none. */
  unsubscribe_url: z.string().optional(),
  /** The sender's postal address, on one line. */
  postal_address: z.string().optional(),
});

const DEFAULT_MESSAGE = 'Hello {{name}},\n\nyou are invited to the beta of Tallygate.';

export function composeBetaInvite(invite: z.infer<typeof BetaInvite>, url: string): Letter {
  const { name, subject, message, plan, trial_days, credit_usd, expires_at, unsubscribe_url, postal_address } = invite;
  const filled = (text: string) => text.replaceAll(/\{\{\s*name\s*\}\}/g, () => name ?? 'there');
  return {
    subject: filled(subject ?? 'You are invited to the beta'),
    preview: `Your invitation is open until ${readableTime(expires_at)}.`,
    paragraphs: filled(message ?? DEFAULT_MESSAGE).split(/\n\s*\n/),
    facts: [
      ...(plan === null ? [] : [['Plan', `${plan}, for ${trial_days} ${trial_days === 1 ? 'day' : 'days'}`] as const]),
      ...(credit_usd === null ? [] : [['Credit', `$${credit_usd}`] as const]),
      ['Open until', readableTime(expires_at)],
    ],
    action: { label: 'Activate the invitation', url },
    footnote: 'The invitation works once, with this address alone. If you do not want it, do nothing: no account is made.',
    ...(unsubscribe_url !== undefined && { unsubscribeFooter: { unsubscribeUrl: unsubscribe_url, postalAddress: postal_address } }),
  };
}
