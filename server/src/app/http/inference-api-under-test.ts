import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { contract } from '@tallygate/contract';
import { openLocalDisk } from '../../adapters/blobs/local-disk.ts';
import { InProcessLanes } from '../../adapters/lanes/in-process.ts';
import { SettlementJournal } from '../../adapters/lanes/settlement-journal.ts';
import { createSandboxProvider } from '../../adapters/upstream/sandbox/index.ts';
import { loadCatalog } from '../../catalog/index.ts';
import {
  type BackgroundDeps,
  BackgroundResponses,
  Conversations,
  chatOperation,
  compactOperation,
  conversationRoutes,
  createSignatureCheck,
  createStandingOf,
  createTokenizer,
  Deployments,
  followResponse,
  Heartbeat,
  type InferenceDeps,
  responseOperation,
  runBackground,
  STATELESS_OPERATIONS,
  StoredChats,
  StoredResponses,
  storedChatRoutes,
  storedResponseRoutes,
} from '../../inference/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { silentLog } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { createGrantOfKey } from '../../keys/index.ts';
import { LedgerWriter, ledgerLaneSource } from '../../ledger/index.ts';
import { pagesOf } from '../../ledger/ledger-pages.ts';
import { newSigningSeed, publishedKeySet, publishSigningKeys, receiptRoutes, signingKeyFromSeed } from '../../receipts/index.ts';
import { createRunStore, RunDirectory } from '../../runs/index.ts';
import { createIdempotency } from '../idempotency.ts';
import { openTestDatabase, startInstance } from './account-api-under-test.ts';
import { endpointsOf } from './endpoint.ts';
import { createInferenceApi } from './inference-api.ts';
import { toProblemDocument } from './problem-document.ts';
import { createResponseApi } from './response-api.ts';

/** The account API and the hot path over one database, with the sandbox provider behind both kinds of keys. */
export type InferenceWorld = Awaited<ReturnType<typeof openInferenceWorld>>;

const PUBLIC_URL = 'https://tallygate.test';

/** Files that requests may name, by their ids. */
const FILES: Readonly<Record<string, { filename: string; contentType: string; text: string }>> = {
  'file-letter': { filename: 'letter.pdf', contentType: 'application/pdf', text: '%PDF-1.4 letter' },
};

export async function openInferenceWorld(clock: Clock, { chunkDelayMs = 0 } = {}) {
  const db = await openTestDatabase();
  const { pool } = db.database;
  const log = silentLog();
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-http-'));
  const signingKey = signingKeyFromSeed(newSigningSeed());
  await publishSigningKeys(pool, [signingKey], clock.now());
  const journal = new SettlementJournal(folder, () => {});
  const writer = new LedgerWriter({ feed: journal, pool, pagesOf: (entries) => pagesOf(entries, signingKey), log, onQuarantine: () => {} });
  const tokenizer = createTokenizer();
  const catalog = loadCatalog();
  /** Background responses that a worker was told of. */
  const told: string[] = [];
  const chats = new StoredChats(pool, clock);
  const openFile: BackgroundDeps['openFile'] = async (_owner, fileId) => {
    const file = FILES[fileId];
    if (!file) throw new Problem('not_found', 'No such file.');
    return { ...file, bytes: file.text.length, read: async () => Readable.from([Buffer.from(file.text)]) };
  };
  const responseDeps = {
    ...{ catalog, tokenizer, clock, openFile },
    responses: new StoredResponses(pool, clock),
    background: new BackgroundResponses(pool, clock),
    conversations: new Conversations(pool, clock),
    enqueue: async (id: string) => void told.push(id),
  };
  const account = await startInstance(db.database, db.url, {
    clock,
    endpoints: [
      ...endpointsOf(
        contract.receipts,
        receiptRoutes({ pool, keySet: () => publishedKeySet(pool, { receipt: [signingKey], checkpoint: [] }) }),
      ),
      ...endpointsOf(contract.storedResponses, storedResponseRoutes(responseDeps)),
      ...endpointsOf(contract.conversations, conversationRoutes(responseDeps.conversations)),
      ...endpointsOf(contract.storedChats, storedChatRoutes(chats)),
    ],
  });

  const sandbox = createSandboxProvider({ chunkDelayMs });
  const heartbeat = new Heartbeat();
  const idempotency = createIdempotency({ em: db.database.orm.em, clock, log });
  const deployment = (model: string) => ({
    name: 'sandbox',
    provider: 'sandbox',
    upstream: sandbox,
    upstreamModel: model,
    countsLikeMaker: true,
    weight: 1,
  });
  const inference: InferenceDeps = {
    catalog,
    deployments: new Deployments(new Map(catalog.models.map(({ id }) => [id, [deployment(id)]])), sandbox),
    lanes: new InProcessLanes(ledgerLaneSource(pool), journal),
    tokenizer,
    clock,
    log,
    heartbeat,
    runs: new RunDirectory({ store: createRunStore(pool), clock, log }),
    timeouts: { plainFirstByteMs: 10_000, streamFirstByteMs: 10_000, idleMs: 10_000 },
    problemReply: (problem, { requestId }) => {
      const { status, headers, body } = toProblemDocument(problem, { requestId, publicUrl: PUBLIC_URL });
      return { status, headers, body: Buffer.from(JSON.stringify(body)) };
    },
    onRefused: () => {},
    onServed: () => {},
  };
  const api = createInferenceApi({
    authenticator: account.authenticator,
    idempotency,
    inference,
    operations: [
      ...STATELESS_OPERATIONS,
      chatOperation({ chats, openFile }),
      responseOperation(responseDeps),
      compactOperation(responseDeps),
    ],
    checkSignature: createSignatureCheck({ clock, publicUrl: () => PUBLIC_URL }),
    bodyLimits: { maxBytes: 1_048_576, timeoutMs: 5_000 },
    formLimits: {
      maxBytes: 1_048_576,
      maxFileBytes: 1_048_576,
      maxFiles: 4,
      maxFields: 20,
      maxFieldBytes: 10_000,
      idleTimeoutMs: 5_000,
      timeoutMs: 5_000,
    },
    blobs: await openLocalDisk(join(folder, 'blobs')),
  });
  const { em } = db.database.orm;
  const { users } = account;
  const backgroundDeps: BackgroundDeps = {
    ...responseDeps,
    inference,
    standingOf: createStandingOf({ grantOfKey: createGrantOfKey({ em, users }), users, clock }),
  };
  const { authenticator } = account;
  const responses = createResponseApi({ authenticator, follow: followResponse(responseDeps), publicUrl: () => PUBLIC_URL, log });
  const server = createServer((req, res) => void (responses.handles(req) ? responses : api).serve(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  return {
    account,
    database: db.database,
    /** Where the hot path listens. */
    authority: `127.0.0.1:${port}`,
    told,
    inference,
    background: responseDeps.background,
    /** What a worker does. */
    work: (id: string) => runBackground(id, backgroundDeps),
    /** Settled requests are in the database, receipts too. */
    written: () => writer.drain(),
    async close() {
      server.closeAllConnections();
      server.close();
      idempotency.close();
      await account.close();
      await writer.close();
      heartbeat.close();
      await tokenizer.close();
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
