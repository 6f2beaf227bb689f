import { setTimeout as delay } from 'node:timers/promises';
import { JournalCopies } from '../adapters/lanes/journal-copies.ts';
import type { JournalEntry, SettlementFeed } from '../adapters/lanes/port.ts';
import { openPartitions, removeEpochs } from '../adapters/lanes/redis/epoch-keys.ts';
import type { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import type { Log } from '../kernel/log.ts';
import { type LedgerWriter, untoldOf, unwrittenAmong } from '../money/ledger/index.ts';
import type { Foundation } from './foundation.ts';
import type { SharedLanes } from './lane-stores.ts';

/** A settlement that Redis has not brought to the ledger in that time, twice at most, is written there from the journal. */
const EVERY_MS = 5_000;
const RETRY_MS = 500;

interface LaneRecoveryDeps {
  readonly shared: SharedLanes;
  readonly journal: SettlementJournal;
  /** Of what Redis has. */
  readonly writer: Pick<LedgerWriter, 'drain' | 'idle'>;
  readonly writerOf: (feed: SettlementFeed) => Pick<LedgerWriter, 'drain' | 'close'>;
}

/**
 * Opens the lanes in Redis. Brings into the ledger what the journal of this gateway has and Redis has lost: at once what an earlier process left,
 * calls in flight included, then what does not arrive, and all of it when Redis is not what it was.
 *
 * While an epoch is open, only that is written which its lanes have. The rest goes on the lanes first: late, and as far as it still fits.
 */
export async function openLaneRecovery(
  { shared: { lanes, feed, epochs, keys }, journal, writer, writerOf }: LaneRecoveryDeps,
  { pool, archive, log, closing }: Pick<Foundation, 'pool' | 'archive' | 'log' | 'closing'>,
): Promise<void> {
  const { redis, prefix } = keys;
  const fromEarlier = journal.left();
  const [left, unfreed] = [new Map(fromEarlier.inFlight), new Map(fromEarlier.unfreed)];
  warnOfAbandoned(left.size, log);
  const unwritten = (entries: readonly JournalEntry[]) => unwrittenAmong({ pool, archive }, entries);
  const drainStreams = async (): Promise<void> => {
    await feed.takeOver();
    await writer.drain();
  };
  /** @returns false where it cannot be read */
  const tellLanes = async (entry: JournalEntry, holdId?: string, under?: string): Promise<boolean> => {
    const untold = untoldOf(entry);
    if (untold === undefined) return false;
    if ('refund' in untold) await lanes.refund(untold.refund);
    else await lanes.late.settle(untold.settlement, holdId, under);
    return true;
  };
  /** Of a gateway that an epoch was opened without; what it settles late is in the journal again, as far as it fitted. */
  const unwrittenByNow = async (entries: readonly JournalEntry[]): Promise<readonly JournalEntry[]> => {
    const found = await unwritten(entries);
    if (found.length === 0 || !epochs.isLate) return found;
    // What was settled since is on its way.
    await drainStreams();
    const unreadable: JournalEntry[] = [];
    for (const entry of await unwritten(found)) if (!(await tellLanes(entry))) unreadable.push(entry);
    await drainStreams();
    return unreadable;
  };
  const copies = new JournalCopies({ journal, unwrittenAmong: unwrittenByNow });
  const copyWriter = writerOf(copies);
  const drainCopies = async (): Promise<void> => {
    copies.advance();
    await copyWriter.drain();
  };
  /** While an epoch is open: of a gateway that has missed one, it has to know that first. */
  const drainInEpoch = async (): Promise<void> => {
    await epochs.confirm();
    await copyWriter.drain();
  };
  /** What is gone from the lanes is settled, and the ledger has it once the streams are empty; or no lane has it. */
  const settleGone = async (gone: ReadonlyMap<string, JournalEntry>, under?: string): Promise<void> => {
    if (gone.size === 0) return;
    await drainStreams();
    const untold = new Set(await unwritten([...gone.values()]));
    for (const [holdId, entry] of gone) {
      if (!untold.has(entry)) journal.end(holdId);
      else if (!(await tellLanes(entry, holdId, under))) journal.append(entry, holdId);
      left.delete(holdId);
    }
  };
  /** What an earlier process held and asked nobody for. */
  const freeLeft = async (under?: string): Promise<void> => {
    for (const [holdId, untold] of unfreed) {
      await lanes.freeLeft(holdId, untold, under);
      journal.end(holdId);
      unfreed.delete(holdId);
    }
  };
  /** In an epoch that is open. */
  const endLeft = async (): Promise<void> => {
    await freeLeft();
    const gone = new Map<string, JournalEntry>();
    for (const [holdId, entry] of left) {
      if (await lanes.abandon(holdId)) left.delete(holdId);
      else gone.set(holdId, entry);
    }
    await settleGone(gone);
  };
  closing.add('epoch of the lanes', () => epochs.close());
  closing.add('holds of calls that were not begun', () => lanes.end());
  closing.add('copies of settlements', async () => {
    await epochs.confirm();
    copies.advance();
    await copyWriter.close();
  });
  await epochs.join({
    // What it has read from a stream is nowhere else once Redis has lost that, and a hold that it settles would be declared.
    idle: async () => {
      await lanes.idle();
      await writer.idle();
    },
    hasUndrained: () => !journal.isDrained(),
    isSettled: () => journal.isSettled(),
    drainJournal: drainCopies,
    openPartitions: async (epoch) => {
      await openPartitions(redis, prefix, epoch);
      await drainStreams();
    },
    declare: (epoch) => lanes.declare(epoch, unwritten),
    settleLeft: async (epoch) => {
      await freeLeft(epoch);
      await settleGone(new Map(left), epoch);
    },
    missed: async (epoch) => {
      await drainStreams();
      await lanes.missed(epoch, unwritten);
    },
    salvage: (epoch, advance) => lanes.salvage(epoch, { ...advance, unwrittenAmong: unwritten }),
    forget: (older) => removeEpochs(redis, prefix, older),
  });
  const catchUp = async (): Promise<void> => {
    copies.advance();
    await drainInEpoch();
    if (epochs.isLate && !lanes.late.hasInFlight()) await epochs.caughtUp();
  };
  // Should Redis lose something meanwhile, they are settled before the next epoch is open.
  while (left.size + unfreed.size > 0) await insistently(endLeft, log);
  await insistently(catchUp, log);
  closing.every(EVERY_MS, 'copies of settlements', async () => {
    await drainInEpoch();
    copies.advance();
    if (epochs.isLate) await catchUp();
  });
}

/** Redis may lose something in the middle of it. */
async function insistently(work: () => Promise<void>, log: Log): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      await laterThan(error, log);
    }
  }
}

async function laterThan(error: unknown, log: Log): Promise<void> {
  log.warn({ err: error }, 'what the last process left cannot be settled yet');
  await delay(RETRY_MS);
}

export function warnOfAbandoned(abandoned: number, log: Log): void {
  if (abandoned > 0) log.warn({ abandoned }, 'calls that were running when the last process died are charged at their holds');
}
