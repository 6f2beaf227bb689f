import type { ReceiptUsage } from '@tallygate/contract';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import type { Admission } from './admission.ts';
import type { Bill } from './attempt.ts';
import type { Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { mostUsage, ourCount } from './settlement.ts';
import { atLeast, isPartial, reportedUsage, usageOfFault, writesText } from './usage.ts';

/** Of what came, so much is counted; the rest in proportion. */
const COUNTED_BYTES = 256 * 1024;

/** Whether its provider bills for it although it gave no answer. */
export const isBilled = (fault: UpstreamFault, { dialect }: Target): boolean =>
  fault.kind !== 'cancelled' && (fault.begun !== undefined || usageOfFault(fault, dialect.form) !== undefined);

/** What its provider says that it has used, where that is all of it; of a text, on both sides. */
export function knownUsage(fault: UpstreamFault, { dialect, model }: Target): ReceiptUsage | undefined {
  const used = usageOfFault(fault, dialect.form);
  if (!fault.begun) return used;
  if (isPartial(fault.usage)) return undefined;
  return writesText(model) ? reportedUsage(used, () => true) : used;
}

/** As one that is settled already. */
export const withoutBill = ({ begun: _, usage: __, ...fault }: UpstreamFault): UpstreamFault => ({ ...fault, status: null });

/**
 * What a provider bills that gave no answer: what it says that it has used; of an answer that it began, our count of what came, and no less
 * than it had said by then. Where nothing of it came or could be read, all that was held: also of one that may be at work, which is all that
 * is known once nobody waits for it; whoever waits does not pay for what nobody sent. Undefined where it bills nothing.
 */
export async function billOfFault(
  fault: UpstreamFault,
  admission: Admission,
  target: Target,
  { tokenizer, isAwaited }: Pick<InferenceDeps, 'tokenizer'> & { readonly isAwaited: boolean },
): Promise<Bill | undefined> {
  const { begun } = fault;
  const known = knownUsage(fault, target);
  if (known) return { usage: atLeast(begun?.said, known), estimated: false };
  if (fault.mayBeAtWork && !isAwaited) return { usage: mostUsage(admission, target), estimated: true };
  if (!begun || fault.kind === 'cancelled') return undefined;
  const used = usageOfFault(fault, target.dialect.form);
  const said = used ? atLeast(begun.said, used) : begun.said;
  return { usage: atLeast(said, await countOf(begun.bytes, admission, target, { tokenizer })), estimated: true };
}

async function countOf(bytes: Buffer, admission: Admission, target: Target, deps: Pick<InferenceDeps, 'tokenizer'>) {
  if (bytes.length === 0 || !writesText(target.model)) return mostUsage(admission, target);
  const text = bytes.toString('utf8', 0, COUNTED_BYTES);
  return ourCount(admission, target, { text, scale: Math.max(1, bytes.length / COUNTED_BYTES) }, deps);
}
