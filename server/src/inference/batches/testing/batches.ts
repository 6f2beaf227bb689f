import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { statusAtPath } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import { openLocalDisk } from '../../../adapters/blobs/local-disk.ts';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import { openPool } from '../../../adapters/postgres/database.ts';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import type { KeyPrincipal } from '../../../http/index.ts';
import { newId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { createSecretBox } from '../../../kernel/secret-box.ts';
import { loadCatalog } from '../../../money/catalog/index.ts';
import { laneId, type SettlementRecord } from '../../../money/ledger/index.ts';
import { TEST_RATES } from '../../../money/plans/index.ts';
import { BOOK } from '../../../money/plans/testing/book.ts';
import { RunDirectory } from '../../../money/runs/index.ts';
import { memoryRunStore } from '../../../money/runs/testing/memory-run-store.ts';
import {
  type CallerStatus,
  chatOperation,
  Deployments,
  Heartbeat,
  type InferenceDeps,
  newGatewayId,
  RunningCalls,
  StoredChats,
  statelessOperations,
  UnsettledCalls,
} from '../../calls/index.ts';
import { ScriptedAnswer, type ScriptedProvider } from '../../calls/testing/inference.ts';
import { countTokensGuarded } from '../../calls/token-count.ts';
import { createFiles } from '../../files/index.ts';
import { createContentKeys, createStoring } from '../../stored-content/index.ts';
import { BatchLocks } from '../batch-locks.ts';
import { createBatches, type NewBatch } from '../batches.ts';
import { BatchWork } from '../work.ts';

/** How many lines of a batch run at a time. */
export const LINES_AT_ONCE = 2;

export const NOW = Date.parse('2026-11-21T10:00:00Z');
const MODEL = 'gpt-4o-mini';
/** 10 tokens in and 8 out, at half of 0.15 and 0.60 USD a million. */
export const LINE_NANO_USD = 3_150n;

/** Thrown where a test lets the process die, and by all that it had still begun. */
export class Death extends Error {}

/** A process: it ends before one of its next steps, and does nothing after that. */
class Life {
  stepsLeft = Number.POSITIVE_INFINITY;

  get isOver(): boolean {
    return this.stepsLeft < 0;
  }

  step(): void {
    if (!this.isOver) this.stepsLeft -= 1;
    if (this.isOver) throw new Death();
  }
}

/** What a process has of the database: before and after every statement it may die, and its connections with it. */
function mortal(pool: Pool, life: Life): Pool {
  const query = (target: Pool | PoolClient) => async (text: string, values?: unknown[]) => {
    life.step();
    const result = await target.query(text, values);
    life.step();
    return result;
  };
  const client = (target: PoolClient) =>
    withMethods(target, { query: query(target), release: (destroy?: boolean) => target.release(destroy || life.isOver) });
  const connect = async () => {
    life.step();
    return client(await pool.connect());
  };
  return withMethods(pool, { query: query(pool), connect });
}

/** The same object, but for these methods. */
function withMethods<T extends object>(target: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(_target, name) {
      if (typeof name === 'string' && name in methods) return methods[name];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** What is settled, permanently: the ledger as far as batches have to do with it. */
interface Settlement {
  readonly cost: bigint;
  readonly debt: bigint;
  readonly record: SettlementRecord;
}

type Answer = Awaited<ReturnType<ScriptedProvider['call']>> | 'silence';

/** @param completionTokens what its provider bills, whatever was asked for */
export const chatAnswer = (content: string, completionTokens = 8) =>
  new ScriptedAnswer([
    JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: MODEL },
      choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', content, refusal: null } }],
      usage: { prompt_tokens: 10, completion_tokens: completionTokens, total_tokens: 10 + completionTokens },
    }),
  ]);

export type BatchWorld = Awaited<ReturnType<typeof openBatchWorld>>;

/** The slice over PostgreSQL, with lanes that die with their process and a ledger that does not. */
export async function openBatchWorld() {
  const database = await testDatabase();
  const pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-batches-')));
  const blobs = await openLocalDisk(folder);
  const clock = { at: NOW, now: () => clock.at };
  const runStore = memoryRunStore();
  const accountId = newId();
  await pool.query(`insert into accounts (id, name, created_at) values ($1, 'an account', now())`, [accountId]);
  const [keyId, userId] = [newId(), newId()];
  const principal: KeyPrincipal = {
    kind: 'key',
    keyId,
    accountId,
    userId,
    role: 'member',
    livemode: false,
    scopes: new Set(['inference']),
  };

  const ledger: Settlement[] = [];
  const ceilings = new Map<string, bigint>();
  const lanesOf = ({ keyId: key, runId, ancestorRunIds = [], accountId: account }: SettlementRecord): string[] => [
    laneId.key(key ?? '', '2026-11'),
    ...(runId === null ? [] : [runId, ...ancestorRunIds].map((run) => laneId.run(account, false, run))),
  ];
  const source = {
    moneyLane: async (id: string) => ({
      spent: ledger.reduce((sum, { cost, record }) => sum + (lanesOf(record).includes(id) ? cost : 0n), 0n),
      cap: ceilings.get(id) ?? null,
    }),
    quotaLane: async () => ({}),
  };

  const upstream = {
    /** Custom ids, as they were asked for. */
    calls: [] as string[],
    answer: (customId: string): Answer => chatAnswer(`Said ${customId}.`),
  };
  const provider = {
    serves: () => true,
    close: async () => {},
    call: async ({ request, signal }: Parameters<ScriptedProvider['call']>[0]) => {
      const customId = /Say (\S+)\./.exec(JSON.stringify(request))?.[1] ?? '';
      upstream.calls.push(customId);
      const answer = upstream.answer(customId);
      if (answer !== 'silence') return answer;
      const cancelled = { ok: false, kind: 'cancelled', retryable: false, status: null, retryAfterMs: null } as const;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
      await promise;
      return { ...cancelled, message: 'cancelled', param: null, code: null };
    },
  };

  function start(life: Life) {
    const alive = mortal(pool, life);
    const journal = {
      append: (entry: { charged: bigint; debt: bigint; record: string }) => {
        life.step();
        const record: SettlementRecord = JSON.parse(entry.record);
        ledger.push({ cost: BigInt(record.cost), debt: entry.debt, record });
        life.step();
        return { segment: 0, end: 0 };
      },
      appendCeiling: ({ laneId: id, cap }: { laneId: string; cap: bigint }) => {
        ceilings.set(id, cap);
        return { segment: 0, end: 0 };
      },
      begin: () => {},
      end: () => {},
      isAcknowledged: () => true,
    };
    const lanes = new InProcessLanes(source, journal);
    const runs = new RunDirectory({ store: runStore, clock, log: silentLog() });
    runs.listening();
    const inference: InferenceDeps = {
      ...{ catalog: loadCatalog(), plans: BOOK, lanes, clock, log: silentLog(), runs },
      spendingOf: async () => undefined,
      deployments: new Deployments(new Map(), provider, () => 0.5),
      tokenizer: { count: countTokensGuarded, close: async () => {} },
      heartbeat: new Heartbeat(),
      gatewayId: newGatewayId(),
      unsettled: new UnsettledCalls(silentLog()),
      running: new RunningCalls({ readOnMs: 1_000, mostLeftPerKey: 64 }),
      testRates: TEST_RATES,
      timeouts: { plainFirstByteMs: 1_000, streamFirstByteMs: 1_000, idleMs: 1_000, retryAfterMs: 0 },
      problemReply: ({ code, message: detail, extras: { param = null } }) => ({
        status: statusAtPath('/v1/chat/completions', code),
        headers: {},
        body: Buffer.from(JSON.stringify({ code, detail, error: { param } })),
      }),
      onRefused: () => {},
      onServed: () => {},
    };
    const openFile = () => Promise.reject(new Error('No line refers to files'));
    const storing = createStoring({ pool: alive, isAllowed: true });
    const content = createContentKeys({ pool: alive, box: createSecretBox([{ id: 'test', key: Buffer.alloc(32, 7) }]) });
    const recordings = { lengthOf: async () => undefined, close: async () => {} };
    const deps = {
      ...{ pool: alive, content, inference, linesAtOnce: LINES_AT_ONCE },
      files: createFiles({ pool: alive, blobs, clock, log: silentLog(), storageBytes: 2 ** 30 }),
      operations: [
        ...statelessOperations({ recordings }),
        chatOperation({ chats: new StoredChats(alive, clock, content), openFile, storing, recordings }),
      ],
      callerStatusOf: async (): Promise<CallerStatus> => ({
        state: world.state,
        caller: { principal, monthlyCap: world.monthlyCap, plan: 'enterprise' },
      }),
      settledOf: async (receiptIds: readonly string[]) => {
        const known = new Set(ledger.map(({ record }) => record.receiptId));
        return new Set(receiptIds.filter((id) => known.has(id)));
      },
      locks: new BatchLocks(alive, silentLog()),
    };
    const work = new BatchWork(deps);
    return { life, lanes, runs, work, files: deps.files, api: createBatches({ ...deps, work }) };
  }

  const files = createFiles({ pool, blobs, clock, log: silentLog(), storageBytes: 2 ** 30 });
  const owner = { accountId, livemode: false };
  const world = {
    ...{ pool, clock, owner, principal, upstream, ledger, files, keyId, runStore },
    /** Of the key that creates batches. */
    monthlyCap: null as bigint | null,
    state: 'good' as CallerStatus['state'],
    process: start(new Life()),

    /** The process is gone, with all that it had in memory; another one starts. */
    async restart(): Promise<void> {
      world.process.life.stepsLeft = -1;
      world.process = start(new Life());
      await world.process.work.resume();
    },
    async upload(lines: readonly (object | string)[]): Promise<string> {
      const bytes = Buffer.from(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
      async function* content() {
        yield bytes;
      }
      const file = { purpose: 'batch', filename: 'in.jsonl', contentType: 'application/jsonl', lifetimeSeconds: undefined } as const;
      return (await files.create(owner, file, content())).id;
    },
    async create(lines: readonly (object | string)[], order: Partial<NewBatch> = {}) {
      const wanted = { endpoint: '/v1/chat/completions', completion_window: '24h', run: { runId: null, runCap: null } } as const;
      return world.process.api.create(principal, { ...wanted, input_file_id: await world.upload(lines), ...order });
    },
    get: (id: string) => world.process.api.get(owner, id),
    goOn: (signal: AbortSignal = new AbortController().signal) => world.process.work.goOn(signal),
    /** Lines of the batch's two files. */
    async outcome(id: string) {
      const { outputFileId, errorFileId } = await world.get(id);
      return { output: await linesOf(outputFileId), errors: await linesOf(errorFileId) };
    },
    /** On the lane of the key, nano-USD. */
    async lane() {
      const name = laneId.key(keyId, '2026-11');
      const found = (await world.process.lanes.inspect([name])).get(name);
      return { spent: found?.spent ?? 0n, held: found?.held ?? 0n };
    },
    settlementsOf: (requestIds: readonly string[]) => ledger.filter(({ record }) => requestIds.includes(record.requestId)),
    async close() {
      await pool.end();
      await database.drop();
      rmSync(folder, { recursive: true });
    },
  };

  async function linesOf(fileId: string | null): Promise<OutputLine[]> {
    if (fileId === null) return [];
    const { read } = await files.open(owner, fileId);
    return (await text(await read()))
      .trimEnd()
      .split('\n')
      .map((json) => JSON.parse(json));
  }
  return world;
}

/** As OpenAI writes them, with the id of the receipt. */
export interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly receipt_id?: string;
    readonly body: object;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export const line = (customId: string, body: object = {}) => ({
  ...{ custom_id: customId, method: 'POST', url: '/v1/chat/completions' },
  body: { model: MODEL, messages: [{ role: 'user', content: `Say ${customId}.` }], max_tokens: 16, ...body },
});
