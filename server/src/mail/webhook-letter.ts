import * as z from 'zod';
import type { Letter } from './letter.ts';
import { readableTime } from './readable-time.ts';

export const WebhookDisabled = z.object({
  webhook_id: z.string(),
  host: z.string(),
  reason: z.enum(['failed_for_three_days', 'gone']),
  /** Status of the last answer; null where there was none. */
  answer: z.number().nullable(),
  /** Why the last attempt failed. */
  error: z.string().nullable(),
  since: z.string(),
});

export const composeWebhookDisabled = (
  { webhook_id, host, reason, answer, error, since }: z.infer<typeof WebhookDisabled>,
  url: string,
): Letter => ({
  subject: `The webhook to ${host} is disabled`,
  preview: 'Its deliveries failed, and no more are sent.',
  paragraphs: [
    reason === 'gone'
      ? `The webhook to ${host} answered 410 Gone, so it is disabled.`
      : `No delivery to the webhook at ${host} has succeeded for three days, so it is disabled.`,
    'Enable it once it answers again. What it has missed can be sent again then.',
  ],
  facts: [
    ['Webhook', webhook_id],
    ['Failing since', readableTime(since)],
    ['Last answer', answer === null ? (error ?? 'none').replaceAll('_', ' ') : String(answer)],
  ],
  action: { label: 'See the webhook', url },
  footnote: 'You get this mail because you administer the webhook that it is about.',
});
