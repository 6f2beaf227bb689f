import { JournalCopies } from '../adapters/lanes/journal-copies.ts';
import type { LaneStore, SettlementFeed } from '../adapters/lanes/port.ts';
import type { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import type { Log } from '../kernel/log.ts';
import { type LedgerWriter, unwrittenAmong } from '../money/ledger/index.ts';
import type { Foundation } from './foundation.ts';

/** A settlement that Redis has not brought to the ledger in that time, twice at most, is written there from the journal. */
const EVERY_MS = 5_000;

interface SettlementCopiesDeps {
  readonly journal: SettlementJournal;
  readonly lanes: Pick<LaneStore, 'abandon'>;
  /** Resolves when the ledger has all that Redis has. */
  readonly written: () => Promise<void>;
  readonly writerOf: (feed: SettlementFeed) => Pick<LedgerWriter, 'drain' | 'close'>;
}

/**
 * Brings into the ledger what the journal of this gateway has and Redis has lost: at once what an earlier process left, calls in flight
 * included, and from now on what does not arrive.
 */
export async function openSettlementCopies(
  { journal, lanes, written, writerOf }: SettlementCopiesDeps,
  { pool, log, closing }: Pick<Foundation, 'pool' | 'log' | 'closing'>,
): Promise<void> {
  const left = journal.leftInFlight();
  warnOfAbandoned(left.size, log);
  await written();
  // A hold that Redis does not have is lost, or it is settled: then the ledger has it by now.
  for (const [holdId, entry] of left) if (!(await lanes.abandon(holdId))) journal.append(entry, holdId);
  const copies = new JournalCopies({ journal, unwrittenAmong: (entries) => unwrittenAmong(pool, entries) });
  const writer = writerOf(copies);
  await writer.drain();
  closing.add('copies of settlements', async () => {
    copies.advance();
    await writer.close();
  });
  closing.every(EVERY_MS, 'copies of settlements', async () => {
    await writer.drain();
    copies.advance();
  });
}

export function warnOfAbandoned(abandoned: number, log: Log): void {
  if (abandoned > 0) log.warn({ abandoned }, 'calls that were running when the last process died are charged at their holds');
}
