import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { openLocalDisk } from '../../../adapters/blobs/local-disk.ts';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import { SettlementJournal } from '../../../adapters/lanes/settlement-journal.ts';
import { openPool } from '../../../adapters/postgres/database.ts';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import {
  type UpstreamAnswer,
  UpstreamCut,
  type UpstreamFault,
  type UpstreamProvider,
  type UpstreamRead,
} from '../../../adapters/upstream/port.ts';
import { emptyArchive } from '../../../archive/testing/archives.ts';
import { newId, newReceiptId, newRequestId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { createSecretBox } from '../../../kernel/secret-box.ts';
import { loadCatalog } from '../../../money/catalog/index.ts';
import { LedgerLaneSource, LedgerWriter, Refunds } from '../../../money/ledger/index.ts';
import { lanesOfRecord } from '../../../money/ledger/lanes-of-record.ts';
import { sampleRecord } from '../../../money/ledger/sample-records.ts';
import { testPages } from '../../../money/ledger/testing/pages.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed } from '../../../receipts/index.ts';
import type { Deployment } from '../../calls/index.ts';
import { createContentKeys } from '../../stored-content/index.ts';
import { type FollowDeps, followVideo } from '../follow.ts';
import { StoredCharacters } from '../stored-characters.ts';
import { newVideoId } from '../stored-video.ts';
import { StoredVideos } from '../stored-videos.ts';
import { createVideos } from '../videos.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
/** What each job costs, nano-USD. */
export const PRICE = 400_000_000n;

/** Thrown where a test lets the process die. */
export class Death extends Error {}

export type Answers = 'well' | 'busy' | 'garbage';

/** Jobs at a provider that does what it is told. */
class FakeJobs implements UpstreamProvider {
  readonly jobs = new Map<string, { status: string; progress: number; deletable: boolean }>();
  answers: Answers = 'well';
  /** Whether bodies break off in the middle. */
  cuts = false;
  reads: UpstreamRead[] = [];

  serves = () => true;
  call = () => Promise.reject(new Error('Nothing is begun here'));
  close = async () => {};

  async read(read: UpstreamRead): Promise<UpstreamAnswer | UpstreamFault> {
    this.reads.push(read);
    if (this.answers === 'busy') return faulty(429, true, 3_000);
    const [, id = '', content] = /^\/videos\/([^/?]+)(\/content)?/.exec(read.path) ?? [];
    const job = this.jobs.get(id);
    if (!job) return faulty(404, false);
    if (this.answers === 'garbage') return answerOf('<html>', false);
    if (read.method === 'DELETE') {
      if (!job.deletable && job.status === 'in_progress') return faulty(400, false);
      this.jobs.delete(id);
      return answerOf('{}', false);
    }
    if (content) return job.status === 'completed' ? answerOf(`bytes of ${read.path}`, this.cuts) : faulty(400, false);
    const error = job.status === 'failed' ? { code: 'moderation_blocked', message: 'Not this.' } : null;
    return answerOf(JSON.stringify({ id, object: 'video', status: job.status, progress: job.progress, error }), false);
  }
}

const faulty = (status: number, retryable: boolean, retryAfterMs: number | null = null): UpstreamFault => ({
  ...{ ok: false, kind: retryable ? 'rate_limited' : 'rejected', retryable, status, retryAfterMs },
  ...{ message: `status ${status}`, param: null, code: null },
});

function answerOf(text: string, isCut: boolean): UpstreamAnswer {
  const bytes = Buffer.from(text);
  return {
    ...{ ok: true, status: 200, contentType: 'video/mp4' },
    collect: async () => bytes,
    async pump(onChunk) {
      await onChunk(bytes.subarray(0, 4));
      if (isCut) throw new UpstreamCut('reset');
      await onChunk(bytes.subarray(4));
    },
    abort: () => {},
  };
}

/** The slice over PostgreSQL, with lanes and a journal, at a provider of {@link FakeJobs}. */
export type VideoWorld = Awaited<ReturnType<typeof openVideoWorld>>;

export async function openVideoWorld() {
  const database = await testDatabase();
  const pool: Pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  const signingKey = signingKeyFromSeed(newSigningSeed());
  await publishSigningKeys(pool, [signingKey], NOW - 86_400_000);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-videos-')));
  const blobs = await openLocalDisk(join(folder, 'blobs'));
  const journal = new SettlementJournal(join(folder, 'journal'), (_segment, line) => {
    throw new Error(line.toString());
  });
  const lanes = new InProcessLanes(new LedgerLaneSource(pool), journal);
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const writer = new LedgerWriter({
    feed: journal,
    pool,
    archive: emptyArchive(pool),
    pages: testPages,
    log: silentLog(),
    onQuarantine,
  });
  const clock = { at: NOW, now: () => clock.at };
  const provider = new FakeJobs();
  const deployment: Deployment = {
    name: 'sandbox',
    provider: 'sandbox',
    upstream: provider,
    upstreamModel: 'sora-2',
    countsLikeMaker: false,
    onCancel: 'stops_billing',
    weight: 1,
  };
  const life = new Life();
  const videos = new MortalVideos(pool, clock, life);
  const refunds = new Refunds({ pool, lanes, clock, write: () => writer.drain() });
  const deps: FollowDeps = {
    ...{ pool, videos, blobs, clock },
    catalog: loadCatalog(),
    deployments: { serving: (_model, name) => (name === deployment.name ? deployment : undefined) },
    refunds: {
      refund: async (...wish) => {
        life.step();
        const made = await refunds.refund(...wish);
        life.step();
        return made;
      },
    },
    log: silentLog(),
    keptMs: 86_400_000,
  };
  const accountId = newId();
  await pool.query(`insert into accounts (id, name, created_at) values ($1, 'an account', now())`, [accountId]);
  const owner = { accountId, livemode: false };

  return {
    ...{ pool, blobs, clock, provider, deps, life, owner, videos, writer },
    api: createVideos(deps),
    characters: new StoredCharacters(pool, contentKeysOf(pool)),
    /** A job that a provider has taken. @param charge whether its settlement came about, or its process died before, or the journal failed */
    async begin(charge: 'settled' | 'died' | 'failed' = 'settled', state: Partial<{ status: string; deletable: boolean }> = {}) {
      const record = sampleRecord({
        ...{ kind: 'media_job', endpoint: '/v1/videos', modelServed: 'sora-2', funding: 'test', livemode: false, accountId },
        ...{ keyId: null, startedAt: clock.at, completedAt: clock.at, requestId: newRequestId(), receiptId: newReceiptId(clock.at) },
        usage: {
          ...sampleRecord().usage,
          input_tokens: 0,
          cached_input_tokens: 0,
          cache_write_tokens: 0,
          output_tokens: 0,
          reasoning_tokens: 0,
          ...(charge === 'settled' && { video_seconds: 4 }),
        },
        unitPrices: { video_seconds: '100000000000' },
        outcome: charge === 'failed' ? 'failed' : 'completed',
        held: `${PRICE}`,
        cost: charge === 'failed' ? '0' : `${PRICE}`,
      });
      const jobId = `job_${provider.jobs.size}_${record.requestId}`;
      provider.jobs.set(jobId, { status: 'in_progress', progress: 10, deletable: false, ...state });
      const id = newVideoId();
      await life.ever(() =>
        videos.insert(owner, {
          ...{ id, request_id: record.requestId, receipt_id: record.receiptId, deployment: 'sandbox', provider: 'sandbox', job_id: jobId },
          ...{ model: 'sora-2', seconds: 4, size: '720x1280', prompt: 'A \0 page', remixed_from: null, status: 'queued' },
          created_at: new Date(clock.at),
        }),
      );
      if (charge !== 'died') {
        const names = lanesOfRecord(record);
        const funds = { id: names.funds ?? '', source: 'balance', cap: null, capRule: 'given', resetsAt: null } as const;
        await lanes.hold({
          ...{ holdId: record.receiptId, accountId, at: clock.at, units: {}, lanes: [], quota: null, funds },
          cost: { fixed: PRICE * 1_000n, perOutputToken: 0n },
          outputTokens: { wanted: 0, least: 0 },
        });
        lanes.settle({ holdId: record.receiptId, cost: BigInt(record.cost), units: {}, record: JSON.stringify(record) });
      }
      return { id, jobId, requestId: record.requestId };
    },
    /** Takes every step that is due, once. */
    async follow(): Promise<void> {
      for (const id of await videos.due(1_000)) await followVideo(id, deps, new AbortController().signal);
    },
    /** Lets time pass until nothing is left to be done. */
    async settleDown(): Promise<void> {
      await writer.drain();
      for (let round = 0; round < 80; round += 1) {
        const { rows } = await pool.query('select min(next_step_at) as next from videos');
        if (rows[0].next === null) return;
        clock.at = Math.max(clock.at + 3_600_000, rows[0].next.getTime());
        await this.follow();
        await writer.drain();
      }
      throw new Error('There is always something left to do');
    },
    /** Charged and not given back, nano-USD, by the books. */
    async paid(requestId: string): Promise<bigint> {
      await writer.drain();
      const { rows } = await pool.query<{ sum: string }>(
        `select coalesce(sum(amount), 0)::text as sum from (
           select cost_nano as amount from usage_records where request_id = $1 union all
           select amount_nano from ledger_entries join postings using (posting_id) where request_id = $1 and account = 'test_revenue'
         ) as booked`,
        [requestId],
      );
      return BigInt(rows[0]?.sum ?? '0');
    },
    async stored(): Promise<string[]> {
      const keys: string[] = [];
      for await (const key of blobs.list('')) keys.push(key);
      return keys;
    },
    async close() {
      await writer.close();
      journal.close();
      await pool.end();
      await database.drop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Ends after so many more steps, and goes on for as long as it is left alone. */
class Life {
  #stepsLeft = Number.POSITIVE_INFINITY;

  endsAfter(steps: number): void {
    this.#stepsLeft = steps;
  }

  step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) {
      this.#stepsLeft = Number.POSITIVE_INFINITY;
      throw new Death();
    }
  }

  /** What nobody's death comes into. */
  async ever<T>(work: () => Promise<T>): Promise<T> {
    const left = this.#stepsLeft;
    this.#stepsLeft = Number.POSITIVE_INFINITY;
    const done = await work();
    this.#stepsLeft = left;
    return done;
  }
}

const contentKeysOf = (pool: Pool) => createContentKeys({ pool, box: createSecretBox([{ id: 'test', key: Buffer.alloc(32, 7) }]) });

/** Before and after every statement its process may die. */
class MortalVideos extends StoredVideos {
  readonly #life: Life;
  /** Videos that were ever completed. */
  readonly completed = new Set<string>();

  constructor(pool: Pool, clock: { now(): number }, life: Life) {
    super(pool, clock, contentKeysOf(pool));
    this.#life = life;
  }

  override complete: StoredVideos['complete'] = async (id, ...rest) =>
    this.#mortal(async () => {
      const isDone = await super.complete(id, ...rest);
      if (isDone) this.completed.add(id);
      return isDone;
    });

  override fail: StoredVideos['fail'] = (...args) => this.#mortal(() => super.fail(...args));
  override again: StoredVideos['again'] = (...args) => this.#mortal(() => super.again(...args));
  override running: StoredVideos['running'] = (...args) => this.#mortal(() => super.running(...args));
  override refunded: StoredVideos['refunded'] = (...args) => this.#mortal(() => super.refunded(...args));
  override purge: StoredVideos['purge'] = (...args) => this.#mortal(() => super.purge(...args));

  async #mortal<T>(work: () => Promise<T>): Promise<T> {
    this.#life.step();
    const done = await work();
    this.#life.step();
    return done;
  }
}
