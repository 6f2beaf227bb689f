import { randomUUID } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { JournalBatch, JournalEntry, LaneCeiling, SettlementFeed } from '../port.ts';
import { ALL_PARTITIONS, partitionKey } from './partitions.ts';
import { LEAD, STEP_DOWN } from './reader-scripts.ts';
import { type RedisConnection, runScript } from './run-script.ts';

import { readAmounts } from './wire.ts';

interface RedisFeedDeps {
  readonly redis: RedisConnection;
  readonly prefix: string;
  /** Told of an entry that cannot be read, as JSON; it leaves the stream once this returns. What this throws, `read` throws. */
  readonly onDamage: (place: string, entry: string) => void;
  /** For how long the one writer is left alone without a sign of life, milliseconds. */
  readonly leaseMs?: number;
}

/** What stood in the streams when the batch was read. */
type Taken = ReadonlyMap<number, readonly string[]>;

const LEASE_MS = 5_000;
/**
 * A look takes a command for each partition. Entries of processes that died before they could tell of them are found by the sweep before: this is
 * for streams that nobody sweeps.
 */
const LOOK_EVERY_MS = 600_000;
const TELL_MS = 5;
const ENTRIES_A_READ = 1_024;
const NOTHING: JournalBatch = { entries: [], ceilings: [], acknowledge: () => {} };

/**
 * Settlements and ceilings in the streams of Redis, one for each partition of the accounts, on their way to the ledger. An entry is in its
 * stream until it is acknowledged: so whoever reads begins at the front, and nothing of a dead reader has to be claimed.
 *
 * Of all processes one reads at a time, by a lease; the others get empty batches, and tell the reader what they have appended. Should two
 * ever read at once, both hand out the same entries: the ledger writes each once.
 */
export class RedisFeed implements SettlementFeed {
  readonly #deps: RedisFeedDeps;
  readonly #me = randomUUID();
  readonly #leaseMs: number;
  /** Partitions whose stream may have something. */
  #full = new Set<number>(ALL_PARTITIONS);
  #untold = new Set<number>();
  #unacknowledged: Taken = new Map();
  #acknowledging: Promise<unknown> = Promise.resolve();
  #isReader = false;
  #nextTryAt = 0;
  #telling: NodeJS.Timeout | undefined;
  #told: Promise<unknown> = Promise.resolve();
  #looking: NodeJS.Timeout | undefined;
  #standingIn: NodeJS.Timeout | undefined;
  #subscriber: RedisConnection | undefined;
  #onAppend: () => void = () => {};

  constructor(deps: RedisFeedDeps) {
    this.#deps = deps;
    this.#leaseMs = deps.leaseMs ?? LEASE_MS;
  }

  /** Whether this process is the one that writes the ledger just now, as far as it knows. */
  get isReader(): boolean {
    return this.#isReader;
  }

  /** To be told of every append of this process. */
  appended(partition: number): void {
    this.#full.add(partition);
    if (this.#isReader) {
      this.#onAppend();
      return;
    }
    this.#untold.add(partition);
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#tell();
    }, TELL_MS).unref();
  }

  onAppend(callback: () => void): void {
    this.#onAppend = callback;
    this.#looking ??= setInterval(() => this.#lookEverywhere(), LOOK_EVERY_MS).unref();
    this.#listen();
  }

  async read(): Promise<JournalBatch> {
    await this.#acknowledging;
    for (const partition of this.#unacknowledged.keys()) this.#full.add(partition);
    if (this.#full.size === 0) return NOTHING;
    if (!(await this.lead())) {
      // Should the reader be dead, nobody else may ever tell of it.
      this.#standIn();
      return NOTHING;
    }
    for (;;) {
      const { batch, hasDamage } = await this.#readAll([...this.#full]);
      // An empty batch would say that there is nothing more.
      if (!hasDamage || batch.entries.length + batch.ceilings.length > 0) return batch;
      batch.acknowledge();
      await this.#acknowledging;
    }
  }

  async #readAll(partitions: readonly number[]): Promise<{ readonly batch: JournalBatch; readonly hasDamage: boolean }> {
    this.#full = new Set();
    const most = Math.ceil(ENTRIES_A_READ / partitions.length);
    try {
      const streams = await Promise.all(
        partitions.map((partition) => this.#deps.redis.xrange(this.#stream(partition), '-', '+', 'COUNT', most)),
      );
      return this.#batchOf(partitions, streams, most);
    } catch (error) {
      for (const partition of partitions) this.#full.add(partition);
      throw error;
    }
  }

  async mark(): Promise<() => Promise<boolean>> {
    const { redis } = this.#deps;
    const lasts = await Promise.all(
      ALL_PARTITIONS.map(async (partition) => {
        const [last] = await redis.xrevrange(this.#stream(partition), '+', '-', 'COUNT', 1);
        return last ? [{ partition, id: last[0] }] : [];
      }),
    );
    let left = lasts.flat();
    return async () => {
      const isThere = await Promise.all(
        left.map(async ({ partition, id }) => (await redis.xrange(this.#stream(partition), '-', id, 'COUNT', 1)).length > 0),
      );
      left = left.filter((_, index) => isThere[index]);
      return left.length === 0;
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling);
    clearInterval(this.#looking);
    clearTimeout(this.#standingIn);
    this.#tell();
    await Promise.all([this.#acknowledging, this.#told]);
    this.#subscriber?.disconnect();
    if (this.#isReader) await runScript(this.#deps.redis, STEP_DOWN, this.#writerKey(), [this.#me]);
    this.#isReader = false;
  }

  #batchOf(partitions: readonly number[], streams: readonly [id: string, fields: string[]][][], most: number) {
    let hasDamage = false;
    const taken = new Map<number, readonly string[]>();
    const entries: JournalEntry[] = [];
    const ceilings: LaneCeiling[] = [];
    for (const [index, stream] of streams.entries()) {
      const partition = partitions[index];
      if (partition === undefined || stream.length === 0) continue;
      if (stream.length === most) this.#full.add(partition);
      const ids: string[] = [];
      for (const [id, fields] of stream) {
        const entry = parseEntry(fields);
        ids.push(id);
        if (!entry) {
          hasDamage = true;
          this.#deps.onDamage(`${this.#stream(partition)} ${id}`, JSON.stringify(fields));
        } else if ('record' in entry) entries.push(entry);
        else ceilings.push(entry);
      }
      taken.set(partition, ids);
    }
    this.#unacknowledged = taken;
    return { batch: { entries, ceilings, acknowledge: () => this.#acknowledge(taken) }, hasDamage };
  }

  /** The next read waits for it. What could not be acknowledged is handed out again. */
  #acknowledge(taken: Taken): void {
    if (this.#unacknowledged === taken) this.#unacknowledged = new Map();
    const removals = [...taken].map(([partition, ids]) =>
      this.#deps.redis.xdel(this.#stream(partition), ...ids).catch(() => this.#full.add(partition)),
    );
    this.#acknowledging = Promise.all(removals);
  }

  /** Becomes the reader, or stays it, where no other process is. */
  async lead(): Promise<boolean> {
    const now = performance.now();
    if (now < this.#nextTryAt) return this.#isReader;
    return this.#askToLead(false);
  }

  /** Becomes the reader whoever it was, and has everything that is in the streams before it. */
  async takeOver(): Promise<void> {
    await this.#askToLead(true);
    this.#full = new Set(ALL_PARTITIONS);
  }

  async #askToLead(isForced: boolean): Promise<boolean> {
    const answer = await runScript(this.#deps.redis, LEAD, this.#writerKey(), [this.#me, this.#leaseMs, isForced ? 1 : 0]);
    this.#isReader = answer === 1;
    this.#nextTryAt = performance.now() + this.#leaseMs / 10;
    return this.#isReader;
  }

  /** What nobody hears is found when the reader looks by itself. */
  #tell(): void {
    const partitions = [...this.#untold];
    this.#untold = new Set();
    if (partitions.length > 0) this.#told = this.#deps.redis.publish(this.#channel(), partitions.join()).catch(() => {});
  }

  #listen(): void {
    if (this.#subscriber) return;
    const { redis } = this.#deps;
    const subscriber: RedisConnection = redis instanceof Cluster ? redis.duplicate() : redis.duplicate();
    this.#subscriber = subscriber;
    subscriber.on('error', () => {}); // It connects again by itself; until then the streams are looked at now and then.
    subscriber.on('ready', () => {
      subscriber.subscribe(this.#channel()).catch(() => {});
      // What was told while nobody listened.
      this.#lookEverywhere();
    });
    subscriber.on('message', (_channel: string, partitions: string) => {
      for (const partition of partitions.split(',')) this.#full.add(Number(partition));
      if (this.#isReader) this.#onAppend();
      else this.#standIn();
    });
  }

  #lookEverywhere(): void {
    this.#full = new Set(ALL_PARTITIONS);
    this.#onAppend();
  }

  /** The reader may be dead: by then another may take its place. */
  #standIn(): void {
    this.#standingIn ??= setTimeout(() => {
      this.#standingIn = undefined;
      this.#onAppend();
    }, this.#leaseMs).unref();
  }

  #stream = (partition: number): string => `${partitionKey(this.#deps.prefix, partition)}:settled`;
  #writerKey = (): string => `${this.#deps.prefix}:writer`;
  #channel = (): string => `${this.#deps.prefix}:settled`;
}

function parseEntry(fields: readonly string[]): JournalEntry | LaneCeiling | undefined {
  const entry: Record<string, string> = {};
  for (let index = 0; index + 1 < fields.length; index += 2) entry[fields[index] ?? ''] = fields[index + 1] ?? '';
  const { charged, debt, covered, record, waived, caps, lane, cap, at } = entry;
  try {
    if (lane !== undefined && cap !== undefined) return { laneId: lane, cap: BigInt(cap), at: Number(at) };
    if (charged === undefined || debt === undefined || covered === undefined || record === undefined) return undefined;
    const lost = waived === undefined || waived === '0' ? {} : { waived: BigInt(waived) };
    return {
      charged: BigInt(charged),
      debt: BigInt(debt),
      covered: readAmounts(covered),
      record,
      ...lost,
      ...(caps && { caps: readAmounts(caps) }),
    };
  } catch {
    return undefined;
  }
}
