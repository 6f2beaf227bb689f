import * as z from 'zod';
import { formatUsd, type NanoUsd, parseUsd } from '../kernel/money.ts';
import type { Letter } from './letter.ts';
import { readableTime } from './readable-time.ts';

export const BudgetAlert = z.object({
  /** Left out of rows that an older version queued. */
  key_id: z.string().nullable().default(null),
  key_name: z.string(),
  /** Null: no threshold was reached, a request was refused. */
  threshold_percent: z.number().nullable(),
  kind: z.enum(['warning', 'exceeded']),
  /** Left out of rows that were queued before there were mails about refusals, as the amount they needed. */
  cause: z.enum(['spend', 'cap_change', 'refusal']).default('spend'),
  spent_usd: z.string(),
  cap_usd: z.string(),
  /** What had to be held for the refused request; null for other causes. */
  required_usd: z.string().nullable().default(null),
  /** `YYYY-MM` */
  period: z.string(),
  resets_at: z.string(),
});
export type BudgetAlert = z.infer<typeof BudgetAlert>;

/**
 * Says what is spent and not what the threshold is called, and what is refused by those numbers alone: thresholds may be chosen in any way,
 * and a lowered cap passes several at once.
 */
export function composeBudgetAlert(alert: BudgetAlert, budgetUrl: string): Letter {
  const { spent_usd, cap_usd, period, resets_at, required_usd } = alert;
  return {
    ...wordsFor(alert),
    preview: `$${spent_usd} of $${cap_usd} in ${period}.`,
    facts: [
      ['Month', period],
      ['Spent', `$${spent_usd}`],
      ['Cap', `$${cap_usd}`],
      ...(required_usd === null ? [] : [['Needed', `$${required_usd}`] as const]),
      ['Starts again', readableTime(resets_at)],
    ],
    action: { label: 'See the budget', url: budgetUrl },
    footnote: 'You get this mail because of the alerts of a budget of your account. A threshold is mailed at most once a month.',
  };
}

function wordsFor(alert: BudgetAlert): Pick<Letter, 'subject' | 'paragraphs'> {
  const { key_name, cause, kind, spent_usd, cap_usd, required_usd } = alert;
  const [spent, cap] = [nanoOf(spent_usd), nanoOf(cap_usd)];
  const use = cap === 0n ? 'has a cap of $0' : `has used ${sharePercent(spent, cap)} % of its monthly cap`;
  const rule = whatIsRefused(spent, cap);
  if (cause !== 'refusal') {
    const subject = spent >= cap ? `${key_name} has reached its monthly cap` : `${key_name} ${use}`;
    return { subject, paragraphs: [`The API key “${key_name}” ${use}.`, rule] };
  }
  const refused = `A request of the API key “${key_name}” that needs up to $${required_usd} was refused: it does not fit under the cap of $${cap_usd}, of which $${spent_usd} is spent.`;
  const subject = kind === 'exceeded' ? `${key_name} ${use}, and a request was refused` : `A request of ${key_name} was refused`;
  return { subject, paragraphs: [refused, rule] };
}

function whatIsRefused(spent: NanoUsd, cap: NanoUsd): string {
  if (cap === 0n) return 'Every request with a cost is refused until the cap is raised.';
  if (spent >= cap) return 'Every request with a cost is refused until the cap is raised or the month ends.';
  return `What fits into the $${formatUsd(cap - spent)} that is left, less what running requests hold, is not refused for this cap.`;
}

/** Rounded down to two places, so that it never claims a share that is not reached. */
const sharePercent = (spent: NanoUsd, cap: NanoUsd): number => Number((spent * 10_000n) / cap) / 100;

function nanoOf(usd: string): NanoUsd {
  const nano = parseUsd(usd);
  if (nano === undefined) throw new Error(`Not an amount: ${usd}`);
  return nano;
}
