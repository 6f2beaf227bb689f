import type { ReceiptUsage } from '@tallygate/contract';
import type { Soon } from '../../kernel/soon.ts';
import type { Admission } from './admission.ts';
import type { StreamFilter } from './answer-form.ts';
import type { Attempt } from './attempt.ts';
import type { Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { mostUsage, ourCount, usageWhenCut } from './settlement.ts';
import { atLeast, withPromptOf, writesText } from './usage.ts';

/** A stream that was read, up to but not including its last event. */
export interface Relayed {
  readonly filter: StreamFilter;
  readonly isComplete: boolean;
  /** Something of it was too large to be kept, or could not be read. */
  readonly isLeftOut: boolean;
  /** Nobody waited for it when it ended. */
  readonly wasLeft: boolean;
  /** What the provider said of its usage, at the end of one that something was left out of. */
  readonly usageFound: ReceiptUsage | undefined;
  /** What the provider said of the prompt before its stream was cut, where what it says of that is exact. */
  readonly promptSaid: ReceiptUsage | undefined;
  /** The most that the provider said of its usage by then. */
  readonly usageSaid: ReceiptUsage | undefined;
  readonly firstByteAt: number;
  readonly overheadMs: number;
}

/**
 * What the provider said at its end, or with the error in place of that, wins; of one that was not kept, or that broke off when nobody waited,
 * all that was held; of another that it broke off our own count; of one that was cut from our side what it may bill. Never less than what the
 * provider had said by then.
 */
export function usageOf(
  relayed: Relayed,
  { target, running }: Pick<Attempt, 'target' | 'running'>,
  admission: Admission,
  deps: InferenceDeps,
): Soon<ReceiptUsage> {
  const { filter, isComplete, isLeftOut, wasLeft, promptSaid, usageSaid } = relayed;
  if (!isComplete && running.endedBy !== undefined)
    return usageWhenCut(admission, target, running, { delivered: filter.delivered(), promptSaid, usageSaid }, deps);
  const final = finalUsage(relayed, target);
  if (final) return atLeast(usageSaid, final);
  if (isLeftOut || wasLeft) return atLeast(usageSaid, withPromptOf(promptSaid, mostUsage(admission, target)));
  const counting = ourCount(admission, target, filter.delivered(), deps);
  return counting.then((counted) => atLeast(usageSaid, withPromptOf(usageSaid, counted)));
}

/** Of a text whose stream broke off, what was said before is no final word; what was said with the error is. */
function finalUsage({ filter, isComplete, isLeftOut, usageFound }: Relayed, { model }: Target): ReceiptUsage | undefined {
  const usage = usageFound ?? filter.usage;
  if (!writesText(model)) return usage;
  return isComplete || isLeftOut || filter.error ? usage : undefined;
}

export const isEstimated = (relayed: Relayed, { target, running }: Pick<Attempt, 'target' | 'running'>): boolean =>
  relayed.isComplete || !running.endedBy ? finalUsage(relayed, target) === undefined : true;
