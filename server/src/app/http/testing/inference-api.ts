import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { contract } from '@tallygate/contract';
import { createGrantOfKey } from '../../../access/keys/index.ts';
import { openLocalDisk } from '../../../adapters/blobs/local-disk.ts';
import { InProcessLanes } from '../../../adapters/lanes/in-process.ts';
import { SettlementJournal } from '../../../adapters/lanes/settlement-journal.ts';
import { createSandboxProvider } from '../../../adapters/upstream/sandbox/index.ts';
import { emptyArchive } from '../../../archive/testing/archives.ts';
import {
  type BackgroundDeps,
  BackgroundResponses,
  CachedAnswers,
  Conversations,
  chatOperation,
  compactOperation,
  conversationRoutes,
  createAnswerCache,
  createCallerStatusOf,
  createRecordings,
  createSignatureCheck,
  createTokenizer,
  type Deployment,
  Deployments,
  followResponse,
  Heartbeat,
  type InferenceDeps,
  NonceMemory,
  newGatewayId,
  RefusedRequests,
  RunningCalls,
  responseOperation,
  runBackground,
  StoredChats,
  StoredResponses,
  statelessOperations,
  storedChatRoutes,
  storedResponseRoutes,
  UnsettledCalls,
} from '../../../inference/calls/index.ts';
import { createContentKeys, createStoring } from '../../../inference/stored-content/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { silentLog } from '../../../kernel/log.ts';
import { Problem } from '../../../kernel/problem.ts';
import { createSecretBox } from '../../../kernel/secret-box.ts';
import { loadCatalog } from '../../../money/catalog/index.ts';
import { isSettled, LedgerLaneSource, LedgerWriter } from '../../../money/ledger/index.ts';
import { declarePrices } from '../../../money/ledger/testing/ledger.ts';
import { testPages } from '../../../money/ledger/testing/pages.ts';
import { createSpendingReader } from '../../../money/limits/index.ts';
import { TEST_RATES } from '../../../money/plans/index.ts';
import { BOOK } from '../../../money/plans/testing/book.ts';
import { createRunStore, RunDirectory } from '../../../money/runs/index.ts';
import { newSigningSeed, publishedKeySet, publishSigningKeys, receiptRoutes, signingKeyFromSeed } from '../../../receipts/index.ts';
import { createIdempotency } from '../../idempotency.ts';
import { BodyMemory } from '../body-memory.ts';
import { endpointsOf } from '../endpoint.ts';
import { inferenceRoutes } from '../inference-api.ts';
import { createProblemReply } from '../problem-document.ts';
import { withResponseStream } from '../response-api.ts';
import { transferRoute } from '../transfer.ts';
import { openTestDatabase, startInstance } from './account-api.ts';
import { openFrontUnderTest, PUBLIC_URL } from './front.ts';

/** The account API and the hot path over one database, with the sandbox provider behind both kinds of keys. */
export type InferenceWorld = Awaited<ReturnType<typeof openInferenceWorld>>;

/** Of the cached answers of an account. */
export const MOST_CACHED_BYTES = 64 * 1024;

/** Files that requests may name, by their ids. */
const FILES: Readonly<Record<string, { filename: string; contentType: string; text: string }>> = {
  'file-letter': { filename: 'letter.pdf', contentType: 'application/pdf', text: '%PDF-1.4 letter' },
};

export async function openInferenceWorld(clock: Clock, { chunkDelayMs = 0, maxBodyBytes = 1_048_576 } = {}) {
  const db = await openTestDatabase();
  const { pool } = db.database;
  const log = silentLog();
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-http-'));
  const signingKey = signingKeyFromSeed(newSigningSeed());
  await publishSigningKeys(pool, [signingKey], clock.now());
  const journal = new SettlementJournal(folder, () => {});
  const writer = new LedgerWriter({
    feed: journal,
    pool,
    archive: emptyArchive(pool),
    pages: testPages,
    log,
    onQuarantine: () => {},
  });
  const tokenizer = createTokenizer();
  const recordings = createRecordings();
  const catalog = loadCatalog();
  await declarePrices(
    pool,
    catalog.published.map(({ id, pricing: { version } }) => ({ model: id, version })),
  );
  /** Background responses that were queued for a worker. */
  const told: string[] = [];
  const content = createContentKeys({ pool, box: createSecretBox([{ id: 'test', key: Buffer.alloc(32, 7) }]) });
  const storing = createStoring({ pool, isAllowed: true });
  const chats = new StoredChats(pool, clock, content);
  const openFile: BackgroundDeps['openFile'] = async (_owner, fileId) => {
    const file = FILES[fileId];
    if (!file) throw new Problem('not_found', 'No such file.');
    return { ...file, bytes: file.text.length, read: async () => Readable.from([Buffer.from(file.text)]) };
  };
  const responseDeps = {
    ...{ catalog, tokenizer, recordings, clock, openFile, storing },
    responses: new StoredResponses(pool, clock, content),
    background: new BackgroundResponses(pool, clock, content),
    conversations: new Conversations(pool, clock, content),
    enqueue: async (id: string) => void told.push(id),
  };
  const account = await startInstance(db.database, db.url, {
    clock,
    endpoints: [
      ...endpointsOf(
        contract.receipts,
        receiptRoutes({
          pool,
          archive: emptyArchive(pool),
          key: signingKey,
          requirePlan: async () => {},
          seenBy: async () => undefined,
          keySet: () => publishedKeySet(pool, { receipt: [signingKey], checkpoint: [] }),
        }),
      ),
      ...endpointsOf(contract.storedResponses, storedResponseRoutes(responseDeps)),
      ...endpointsOf(contract.conversations, conversationRoutes(responseDeps.conversations)),
      ...endpointsOf(contract.storedChats, storedChatRoutes(chats)),
    ],
  });

  const sandbox = createSandboxProvider({ chunkDelayMs });
  const heartbeat = new Heartbeat();
  const unsettled = new UnsettledCalls(log);
  const idempotency = createIdempotency({ pool: db.database.pool, clock, log });
  const deployment = (model: string): Deployment => ({
    name: 'sandbox',
    provider: 'sandbox',
    upstream: sandbox,
    upstreamModel: model,
    countsLikeMaker: true,
    onCancel: 'stops_billing',
    weight: 1,
  });
  const spendingOf = createSpendingReader(pool);
  const cachedAnswers = new CachedAnswers({ pool, clock, content, mostBytes: MOST_CACHED_BYTES });
  const answers = createAnswerCache({
    answers: cachedAnswers,
    ...{ content, storing, log },
  });
  const inference: InferenceDeps = {
    catalog,
    spendingOf,
    answers,
    plans: BOOK,
    deployments: new Deployments(new Map(catalog.models.map(({ id }) => [id, [deployment(id)]])), sandbox),
    lanes: new InProcessLanes(new LedgerLaneSource(pool), journal, () => clock.now()),
    tokenizer,
    clock,
    log,
    heartbeat,
    gatewayId: newGatewayId(),
    unsettled,
    running: new RunningCalls({ readOnMs: 10_000, mostLeftPerKey: 64 }),
    runs: new RunDirectory({ store: createRunStore(pool), clock, log }),
    testRates: TEST_RATES,
    timeouts: { plainFirstByteMs: 10_000, streamFirstByteMs: 10_000, idleMs: 10_000, retryAfterMs: 0 },
    problemReply: createProblemReply(() => PUBLIC_URL),
    onRefused: () => {},
    onServed: () => {},
  };
  const { em } = db.database.orm;
  const { users } = account;

  const backgroundDeps: BackgroundDeps = {
    ...responseDeps,
    inference,
    callerStatusOf: createCallerStatusOf({
      ...{ grantOfKey: createGrantOfKey({ em, users, spendingOf }), users, spendingOf, plans: BOOK, clock },
    }),
    isSettled: async (requestId, receiptId) => {
      await writer.drain();
      return isSettled(pool, requestId, receiptId);
    },
  };
  const blobs = await openLocalDisk(join(folder, 'blobs'));
  const front = await openFrontUnderTest(
    (parts) => [
      ...inferenceRoutes({
        ...parts,
        anchorAnswer: 'unavailable',
        sharedLane: undefined,
        idempotency,
        inference,
        refusedRequests: new RefusedRequests(inference, () => clock.now()),
        operations: [
          ...statelessOperations({ recordings }),
          chatOperation({ chats, openFile, storing, recordings }),
          responseOperation(responseDeps),
          compactOperation(responseDeps),
        ],
        checkSignature: createSignatureCheck({ clock, publicUrl: () => PUBLIC_URL, nonces: new NonceMemory() }),
        bodyLimits: { maxBytes: maxBodyBytes, timeoutMs: 5_000 },
        bodyMemory: new BodyMemory(1_073_741_824),
        formLimits: {
          maxBytes: 1_048_576,
          maxFileBytes: 1_048_576,
          maxFiles: 4,
          maxFields: 20,
          maxFieldBytes: 10_000,
          idleTimeoutMs: 5_000,
          timeoutMs: 5_000,
        },
        blobs,
      }),
      // As a whole they are given by the account API.
      ...withResponseStream(
        [transferRoute(contract.storedResponses.get, ({ res }) => res.writeHead(418).end())],
        followResponse(responseDeps),
      ),
    ],
    { authenticator: account.authenticator, clock, log },
  );

  return {
    account,
    database: db.database,
    content,
    /** Where the hot path listens. */
    authority: `127.0.0.1:${front.port}`,
    told,
    cachedAnswers,
    inference,
    background: responseDeps.background,
    /** What a worker does. */
    work: (id: string) => runBackground(id, backgroundDeps),
    /** Settled requests are in the database, receipts too. */
    written: () => writer.drain(),
    async close() {
      front.close();
      idempotency.close();
      await account.close();
      await writer.close();
      heartbeat.close();
      unsettled.close();
      await tokenizer.close();
      await recordings.close();
      await sandbox.close();
      journal.close();
      await db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };
const PATH = '/v1/chat/completions';

/** One chat request, by Node's own fetch; the body goes out as the very text that is given. */
export async function chat(world: InferenceWorld, headers: Record<string, string>, body: object | string = CHAT, path = PATH) {
  const answer = await fetch(`http://${world.authority}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const parsed: any = /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined;
  return { status: answer.status, headers: answer.headers, text, body: parsed, code: parsed?.code };
}
