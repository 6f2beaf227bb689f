import * as z from 'zod';
import type { Letter } from './letter.ts';
import { readableTime } from './readable-time.ts';

export const LimitAlert = z.object({
  kind: z.string(),
  /** Null: the account itself. */
  subject: z.string().nullable(),
  period: z.string(),
  threshold_percent: z.number(),
  spent_usd: z.string(),
  cap_usd: z.string(),
  /** Null for a lifetime. */
  resets_at: z.string().nullable(),
});

export function composeLimitAlert(alert: z.infer<typeof LimitAlert>, limitsUrl: string): Letter {
  const { kind, subject, period, threshold_percent: percent, spent_usd, cap_usd, resets_at } = alert;
  const name = subject === null ? `The ${kind}` : `The ${kind.replaceAll('_', ' ')} ${subject}`;
  return {
    subject: `${name} has reached ${percent} % of its limit`,
    preview: `$${spent_usd} of $${cap_usd}.`,
    paragraphs: [
      `${name} has spent $${spent_usd} of the $${cap_usd} of its limit.`,
      percent === 100
        ? 'Requests with a cost are refused until the limit is raised or its period ends.'
        : 'Nothing is refused by this mail. A request whose highest possible cost does not fit into the rest is.',
    ],
    facts: [
      ['Period', period],
      ['Spent', `$${spent_usd}`],
      ['Cap', `$${cap_usd}`],
      ...(resets_at === null ? [] : [['Starts again', readableTime(resets_at)] as const]),
    ],
    action: { label: 'See the limits', url: limitsUrl },
    footnote: 'You get this mail because of the alerts of a limit of your account. A threshold is mailed at most once a period.',
  };
}
