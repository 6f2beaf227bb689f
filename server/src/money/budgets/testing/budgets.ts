import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChatCompletionRequest, contract } from '@tallygate/contract';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import { SettlementJournal } from '../../../adapters/lanes/settlement-journal.ts';
import type { Database } from '../../../adapters/postgres/port.ts';
import { createSandboxProvider } from '../../../adapters/upstream/sandbox/index.ts';
import { endpointsOf } from '../../../app/http/endpoint.ts';
import { MovableClock, openTestDatabase, startInstance } from '../../../app/http/testing/account-api.ts';
import { emptyArchive } from '../../../archive/testing/archives.ts';
import { type Admission, admit } from '../../../inference/calls/admission.ts';
import type { Call } from '../../../inference/calls/call.ts';
import { chatWork } from '../../../inference/calls/chat-work.ts';
import { createTokenizer, Deployments, parseInferenceHeaders, receivedJson } from '../../../inference/calls/index.ts';
import { newReceiptId, newRequestId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed } from '../../../receipts/index.ts';
import { loadCatalog } from '../../catalog/index.ts';
import { LedgerLaneSource, LedgerWriter, type SettlementRecord } from '../../ledger/index.ts';
import { testPages } from '../../ledger/testing/pages.ts';
import { TEST_RATES } from '../../plans/index.ts';
import { BOOK } from '../../plans/testing/book.ts';
import { createBudgetRecords, createBudgets, createKeyRefusals, createSettlementAlerts } from '../index.ts';
import { budgetRoutes } from '../routes.ts';

/** Dear, so that amounts of whole cents are within its longest answer. */
const MODEL = 'claude-opus-4-8';
/** What a token of an answer costs and holds, nano-USD. */
export const TOKEN_NANO_USD = 25_000;

export type BudgetWorld = Awaited<ReturnType<typeof openBudgetWorld>>;

/** Everything that a key's budget passes through, over a database of its own: account API, admission, lanes, ledger writer. */
export async function openBudgetWorld() {
  const db = await openTestDatabase();
  const clock = new MovableClock();
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-budgets-'));
  const { pool } = db.database;
  const signingKey = signingKeyFromSeed(newSigningSeed());
  await publishSigningKeys(pool, [signingKey], clock.now());

  const log = silentLog();
  const journal = new SettlementJournal(folder, () => {});
  const quarantined: unknown[] = [];
  const writer = new LedgerWriter({
    feed: journal,
    pool,
    archive: emptyArchive(pool),
    pages: testPages,
    log,
    alongside: createSettlementAlerts({ clock, log }),
    onQuarantine: (_entry, error) => void quarantined.push(error),
  });
  const lanes = new InProcessLanes(new LedgerLaneSource(pool), journal);
  const refusals = createKeyRefusals({ pool, clock, log });

  const api = await startInstance(db.database, db.url, {
    clock,
    endpointsOver: (keys) => {
      const budgets = createBudgets({ pool, keys, lanes, clock });
      return endpointsOf(contract.budgets, budgetRoutes({ budgets, records: createBudgetRecords(pool), keys }));
    },
  });

  const tokenizer = createTokenizer();
  const sandbox = createSandboxProvider();
  const inference = {
    catalog: loadCatalog(),
    plans: BOOK,
    deployments: new Deployments(new Map(), sandbox),
    lanes,
    tokenizer,
    clock,
    testRates: TEST_RATES,
    onRefused: (...[refused, { grant, startedAt }]: Parameters<Parameters<typeof admit>[1]['onRefused']>) =>
      refusals.note(refused, grant.principal, startedAt),
  };

  return {
    api,
    clock,
    keys: api.keys,
    budgets: createBudgets({ pool, keys: api.keys, lanes, clock }),
    lanes,
    pool,
    database: db.database,
    url: db.url,
    quarantined,
    /** Everything that was settled or refused until now is in the database. */
    async written(): Promise<void> {
      await writer.drain();
      await refusals.settled();
    },
    /** A chat request of the key for so many tokens; rejects as the API would answer. */
    async call(plainKey: string, maxTokens: number): Promise<Admission> {
      return admit(callOf(await api.directory.authenticate(plainKey), maxTokens, clock.now()), inference);
    },
    /** Ends a call at `cost` nano-USD. */
    settle: (admission: Admission, cost: bigint) => settleAt(lanes, admission, cost, clock.now()),
    async close(): Promise<void> {
      await writer.close();
      await refusals.settled();
      await api.close();
      await tokenizer.close();
      await sandbox.close();
      journal.close();
      await db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function callOf(grant: Call['grant'], maxTokens: number, now: number): Call {
  const request: ChatCompletionRequest = { model: MODEL, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: maxTokens };
  return {
    requestId: newRequestId(),
    clientRequestId: null,
    receiptId: newReceiptId(now),
    startedAt: now,
    startedTick: performance.now(),
    grant,
    headers: parseInferenceHeaders({}),
    work: chatWork(request, receivedJson(Buffer.from(JSON.stringify(request)))),
    clientSignature: null,
    signal: new AbortController().signal,
  };
}

function settleAt(lanes: InProcessLanes, { call, funding, hold }: Admission, cost: bigint, now: number): void {
  const { principal } = call.grant;
  const record: SettlementRecord = {
    receiptId: call.receiptId,
    requestId: call.requestId,
    attempt: 1,
    clientRequestId: null,
    accountId: principal.accountId,
    keyId: principal.kind === 'key' ? principal.keyId : null,
    runId: null,
    livemode: principal.kind === 'session' || principal.livemode,
    funding,
    endpoint: call.work.endpoint,
    stream: false,
    modelRequested: MODEL,
    modelServed: MODEL,
    provider: 'sandbox',
    fallback: 'none',
    outcome: 'completed',
    attempts: [],
    usage: { input_tokens: 1, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 1, reasoning_tokens: 0 },
    estimated: false,
    priceVersion: 'test',
    priceTier: null,
    unitPrices: {},
    held: hold.amount.toString(),
    cost: cost.toString(),
    requestSha256: '0'.repeat(64),
    responseSha256: '0'.repeat(64),
    startedAt: call.startedAt,
    firstByteAt: now,
    completedAt: now,
    overheadMs: 1,
  };
  lanes.settle({ holdId: call.receiptId, cost, units: { requests: 1n, tokens: 2n }, record: JSON.stringify(record) });
}

/** The columns that tests look at, without the pool's types. */
export async function rowsOf({ pool }: Pick<Database, 'pool'>, sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>(sql, values)).rows;
}
