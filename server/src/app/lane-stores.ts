import { InProcessLanes } from '../adapters/lanes/in-process.ts';
import type { LaneSource, SettlementFeed } from '../adapters/lanes/port.ts';
import type { NeededAmong } from '../adapters/lanes/redis/declare-holds.ts';
import { LaneEpochs } from '../adapters/lanes/redis/lane-epochs.ts';
import { RedisFeed } from '../adapters/lanes/redis/redis-feed.ts';
import { RedisLanes } from '../adapters/lanes/redis/redis-lanes.ts';
import { UnfreedRecord } from '../adapters/lanes/redis/unfreed-record.ts';
import type { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import type { RedisConnection } from '../adapters/redis/connect.ts';
import { newId } from '../kernel/ids.ts';
import type { Foundation } from './foundation.ts';
import { PREFIX, type SharedRedis } from './shared-redis.ts';

export const LANES_PREFIX = `${PREFIX}:lanes`;
/** A sweep takes a command for each of the 64 partitions. */
const SWEEP_EVERY_MS = 30_000;

export interface LaneStores {
  readonly lanes: InProcessLanes | RedisLanes;
  /** What is settled, for the writer of the ledger. */
  readonly feed: SettlementFeed;
  /** Whether this process is the one that compares the lanes with the ledger. */
  isReconciler(): boolean;
}

/** Lanes in Redis, for any number of gateways. */
export interface SharedLanes extends LaneStores {
  readonly lanes: RedisLanes;
  readonly feed: RedisFeed;
  readonly epochs: LaneEpochs;
  /** What this process is known by. */
  readonly gateway: string;
  readonly keys: { readonly redis: RedisConnection; readonly prefix: string };
}

interface Recording {
  readonly journal: SettlementJournal;
  /** What the journal is known by, whichever process has it. */
  readonly journalName: string;
  /** Of what holds that many draw from were taken for. */
  readonly neededAmong?: NeededAmong;
  /** For how long a gateway without a sign of life is waited for when Redis has lost something: longer than any call takes. */
  readonly absenceMs: number;
  /** Called for a stream entry that cannot be read. */
  readonly onDamage: (place: string, entry: string) => void;
}

/** Nothing may be asked of them before `openLaneRecovery` has resolved. */
export function sharedLanes(
  { prompt: redis }: Pick<SharedRedis, 'prompt'>,
  source: LaneSource,
  { journal, journalName, neededAmong, absenceMs, onDamage }: Recording,
  { pool, log, closing }: Pick<Foundation, 'pool' | 'log' | 'closing'>,
  prefix = LANES_PREFIX,
): SharedLanes {
  const feed = new RedisFeed({ redis, prefix, onDamage });
  closing.add('settlement feed', () => feed.close());
  const gateway = newId();
  const epochs = new LaneEpochs({ pool, gateway: journalName, process: gateway, absenceMs, log });
  const lanes = new RedisLanes({
    ...{ redis, prefix, source, journal, epochs, gateway },
    notes: new UnfreedRecord(pool),
    ...(neededAmong && { neededAmong }),
    onAppend: (partition) => feed.appended(partition),
    sweeps: { everyMs: SWEEP_EVERY_MS, isMine: () => feed.lead() },
  });
  return { lanes, feed, epochs, gateway, keys: { redis, prefix }, isReconciler: () => feed.isReader };
}

/** Lanes of this process, which has to be the only one. */
export function ownLanes(source: LaneSource, journal: SettlementJournal, steady: () => number): LaneStores {
  return { lanes: new InProcessLanes(source, journal, steady), feed: journal, isReconciler: () => true };
}
