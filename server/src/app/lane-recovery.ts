import { setTimeout as delay } from 'node:timers/promises';
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
const RETRY_MS = 500;

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
  const left = new Map(journal.leftInFlight());
  warnOfAbandoned(left.size, log);
  const unwritten = (entries: readonly JournalEntry[]) => unwrittenAmong(pool, entries);
  const copies = new JournalCopies({ journal, unwrittenAmong: unwritten });
  const copyWriter = writerOf(copies);
  const drainStreams = async (): Promise<void> => {
    await feed.takeOver();
    await writer.drain();
  };
  const charge = (holdId: string, entry: JournalEntry): void => {
    journal.append(entry, holdId);
    left.delete(holdId);
  };
  const drainJournal = async (isBeforeLoading: boolean): Promise<void> => {
    if (isBeforeLoading && left.size > 0) {
      // What was settled, though nobody was told, is charged as it was settled.
      await drainStreams();
      for (const [holdId, entry] of left) charge(holdId, entry);
    }
    copies.advance();
    await copyWriter.drain();
  };
  /** Where Redis has lost nothing. A hold that it does not have is settled: then the ledger has it once the streams are empty. */
  const endLeft = async (): Promise<void> => {
    await drainStreams();
    for (const [holdId, entry] of left) {
      if (await lanes.abandon(holdId)) left.delete(holdId);
      else charge(holdId, entry);
    }
  };
  closing.add('copies of settlements', async () => {
    copies.advance();
    await copyWriter.close();
  });
  closing.add('epoch of the lanes', () => epochs.close());
  await epochs.join({
    idle: () => lanes.idle(),
    hasLeftInFlight: () => left.size > 0,
    drainJournal,
    openPartitions: async (epoch) => {
      await openPartitions(redis, prefix, epoch);
      await drainStreams();
    },
    declare: (epoch, isLate) => lanes.declare(epoch, { isLate, unwrittenAmong: unwritten }),
    salvage: (epoch, advance) => lanes.salvage(epoch, { ...advance, unwrittenAmong: unwritten }),
    forget: (older) => removeEpochs(redis, prefix, older),
  });
  // Should Redis lose something meanwhile, they are charged before the lanes are loaded anew.
  while (left.size > 0) await endLeft().catch((error: unknown) => laterThan(error, log));
  await drainJournal(false);
  closing.every(EVERY_MS, 'copies of settlements', async () => {
    await copyWriter.drain();
    copies.advance();
  });
}

async function laterThan(error: unknown, log: Log): Promise<void> {
  log.warn({ err: error }, 'calls that were running when the last process died cannot be ended yet');
  await delay(RETRY_MS);
}

export function warnOfAbandoned(abandoned: number, log: Log): void {
  if (abandoned > 0) log.warn({ abandoned }, 'calls that were running when the last process died are charged at their holds');
}
