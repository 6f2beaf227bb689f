import { JournalCopies } from '../adapters/lanes/journal-copies.ts';
import type { JournalEntry, SettlementFeed } from '../adapters/lanes/port.ts';
import { openPartitions, removeEpochs } from '../adapters/lanes/redis/epoch-keys.ts';
import type { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import type { Log } from '../kernel/log.ts';
import { type LedgerWriter, unwrittenAmong } from '../money/ledger/index.ts';
import type { Foundation } from './foundation.ts';
import type { SharedLanes } from './lane-stores.ts';

/** A settlement that Redis has not brought to the ledger in that time, twice at most, is written there from the journal. */
const EVERY_MS = 5_000;

interface LaneRecoveryDeps {
  readonly shared: SharedLanes;
  readonly journal: SettlementJournal;
  /** Of what Redis has. */
  readonly writer: Pick<LedgerWriter, 'drain'>;
  readonly writerOf: (feed: SettlementFeed) => Pick<LedgerWriter, 'drain' | 'close'>;
}

/**
 * Opens the lanes in Redis. Brings into the ledger what the journal of this gateway has and Redis has lost: at once what an earlier process left,
 * calls in flight included, then what does not arrive, and all of it when Redis is not what it was.
 */
export async function openLaneRecovery(
  { shared: { lanes, feed, epochs, keys }, journal, writer, writerOf }: LaneRecoveryDeps,
  { pool, log, closing }: Pick<Foundation, 'pool' | 'log' | 'closing'>,
): Promise<void> {
  const { redis, prefix } = keys;
  const left = journal.leftInFlight();
  warnOfAbandoned(left.size, log);
  const unwritten = (entries: readonly JournalEntry[]) => unwrittenAmong(pool, entries);
  const copies = new JournalCopies({ journal, unwrittenAmong: unwritten });
  const copyWriter = writerOf(copies);
  const drainJournal = async (): Promise<void> => {
    copies.advance();
    await copyWriter.drain();
  };
  const drainStreams = async (): Promise<void> => {
    await feed.takeOver();
    await writer.drain();
  };
  closing.add('copies of settlements', async () => {
    copies.advance();
    await copyWriter.close();
  });
  closing.add('epoch of the lanes', () => epochs.close());
  await epochs.join({
    idle: () => lanes.idle(),
    drainJournal,
    openPartitions: async (epoch) => {
      await openPartitions(redis, prefix, epoch);
      await drainStreams();
    },
    declare: (epoch, isLate) => lanes.declare(epoch, { isLate, unwrittenAmong: unwritten }),
    salvage: (epoch, advance) => lanes.salvage(epoch, { ...advance, unwrittenAmong: unwritten }),
    forget: (older) => removeEpochs(redis, prefix, older),
  });
  // A hold that Redis does not have is lost, or it is settled: then the ledger has it once the streams are empty.
  if (left.size > 0) await drainStreams();
  for (const [holdId, entry] of left) if (!(await lanes.abandon(holdId))) journal.append(entry, holdId);
  await drainJournal();
  closing.every(EVERY_MS, 'copies of settlements', async () => {
    await copyWriter.drain();
    copies.advance();
  });
}

export function warnOfAbandoned(abandoned: number, log: Log): void {
  if (abandoned > 0) log.warn({ abandoned }, 'calls that were running when the last process died are charged at their holds');
}
