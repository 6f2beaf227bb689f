import { appendFileSync } from 'node:fs';
import { contract } from '@tallygate/contract';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import type { ReadEntry, SettlementFeed } from '../adapters/lanes/port.ts';
import { SettlementJournal } from '../adapters/lanes/settlement-journal.ts';
import { createFileSender } from '../adapters/mail/files.ts';
import { createSmtpSender } from '../adapters/mail/smtp.ts';
import { openDatabase } from '../adapters/postgres/database.ts';
import { startEmbeddedPostgres } from '../adapters/postgres/embedded-postgres.ts';
import { listen } from '../adapters/postgres/listener.ts';
import { openJobQueue } from '../adapters/queue/bullmq.ts';
import { createSandboxProvider } from '../adapters/upstream/sandbox/index.ts';
import { budgetRoutes, createBudgetRecords, createBudgets, createKeyRefusals, createSettlementAlerts } from '../budgets/index.ts';
import { catalogRoutes, loadCatalog } from '../catalog/index.ts';
import { createFiles, createUploads, deleteAccountFiles, fileRoutes, uploadRoutes } from '../files/index.ts';
import {
  accountRoutes,
  auditRoutes,
  createDesk,
  createIdentity,
  createOutbox,
  createSecretBox,
  identityEntities,
  identityRoutes,
  mfaRoutes,
  resealSecrets,
} from '../identity/index.ts';
import {
  Conversations,
  createSignatureCheck,
  createTokenizer,
  Deployments,
  deploymentRoutes,
  Heartbeat,
  type InferenceDeps,
  responseOperation,
  STATELESS_OPERATIONS,
  StoredResponses,
} from '../inference/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog, flushed, type Log, withoutRedaction } from '../kernel/log.ts';
import {
  CachedKeyDirectory,
  createKeys,
  createLastUse,
  createReadKey,
  evenRefusals,
  KEYS_CHANNEL,
  keyEntities,
  keyRoutes,
  revokeAccountKeys,
} from '../keys/index.ts';
import { LedgerWriter, ledgerLaneSource, ledgerRoutes, Refunds, reconcileLanes } from '../ledger/index.ts';
import { RUNS_CHANNEL, RunDirectory, RunQueries, createRunStore, runRoutes } from '../runs/index.ts';
import { newSigningSeed, publishSigningKey, receiptRoutes, signingKeyFromSeed } from '../receipts/index.ts';
import { type Bootstrap, bootstrap, internalSecretOf, keptSecret } from './bootstrap.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { healthRoutes, Readiness } from './health.ts';
import { announcedCircuits, CIRCUITS_CHANNEL } from './announced-circuits.ts';
import { createAccountApi } from './http/account-api.ts';
import { createAuthenticator } from './http/credentials.ts';
import { endpointsOf } from './http/endpoint.ts';
import { createFileApi } from './http/file-api.ts';
import { createFront, drain, listenOn } from './http/front.ts';
import { createInferenceApi } from './http/inference-api.ts';
import { createPages } from './http/pages.ts';
import { createPeerAddress } from './http/peer-address.ts';
import { toProblemDocument } from './http/problem-document.ts';
import { createIdempotency } from './idempotency.ts';
import { startJobs } from './jobs.ts';
import { openRedis, ownLanes, sharedLanes } from './lane-stores.ts';
import { masterKeysOf } from './master-keys.ts';
import { createMetrics } from './metrics.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { openProviders } from './providers.ts';
import { scheduledJobs } from './scheduled-jobs.ts';
import { beSoleGateway } from './sole-gateway.ts';

/** Recordings and pictures of a request: OpenAI takes 25 MB of audio, and sixteen pictures of 50 MB. */
const INFERENCE_FORM = {
  maxBytes: 256 * 1024 * 1024,
  maxFileBytes: 64 * 1024 * 1024,
  maxFiles: 17,
  maxFields: 100,
  maxFieldBytes: 1024 * 1024,
};

export interface RunningServer {
  readonly url: string;
  readonly bootstrap: Bootstrap;
  /** Takes no new requests, lets the running ones end, writes what is settled, and stops. */
  close(): Promise<void>;
}

const SWEEP_MS = 5_000;
const RECONCILE_MS = 60_000;

/** Everything in one process, built in order; what is opened is closed in the opposite order. */
export async function startServer(config: Config, onFatal: () => void): Promise<RunningServer> {
  const log = createLog(config.logLevel);
  const clock = systemClock;
  const closing = new Closing(log);
  closing.add('log', () => flushed(log));
  try {
    // The folder first: it refuses a second server before anything of the first one's is touched.
    const dataDir = openDataDir(config.dataDir);
    closing.add('data directory', async () => dataDir.release());

    // Before the database is locked: that lock is shared by all whose lanes are in Redis.
    const redis = config.redisUrl === undefined ? undefined : await openRedis(config.redisUrl, log, closing);
    const databaseUrl = config.databaseUrl ?? (await startEmbedded(dataDir.file('postgres'), log, closing, onFatal));
    // The embedded one too: another gateway's DATABASE_URL may point at it.
    const sole = await beSoleGateway({
      url: databaseUrl,
      log,
      onLost: onFatal,
      isEmbedded: config.databaseUrl === undefined,
      mayShare: redis !== undefined,
    });
    closing.add('gateway lock', () => sole.release());
    await migrate(databaseUrl, migrations, log);
    const database = await openDatabase({ url: databaseUrl, entities: [...identityEntities, ...keyEntities], log });
    closing.add('database', () => database.close());
    const { pool } = database;
    const { em } = database.orm;
    const metrics = createMetrics();

    // Before anything is admitted, the ledger has to know all that was settled before: lanes are loaded from it.
    const signingKey = signingKeyFromSeed(config.receiptSigningSeed ?? keptSecret(dataDir, 'receipt-signing.key', newSigningSeed));
    await publishSigningKey(pool, signingKey, clock.now());
    const journal = new SettlementJournal(dataDir.file('journal'), (segment, line) =>
      log.error({ segment, line: line.slice(0, 200) }, 'a journal line cannot be read'),
    );
    closing.add('journal', async () => journal.close());
    const onQuarantine = (entry: ReadEntry, error: unknown) => {
      metrics.quarantined();
      log.fatal({ err: error }, 'the database refuses a settlement; it is set aside in journal/quarantine.jsonl');
      const { record, charged, debt } = entry;
      appendFileSync(
        dataDir.file('journal', 'quarantine.jsonl'),
        `${JSON.stringify({ charged: `${charged}`, debt: `${debt}`, record })}\n`,
        { mode: 0o600 },
      );
    };
    const alongside = createSettlementAlerts({ clock, log });
    const writerOf = (feed: SettlementFeed) => new LedgerWriter({ feed, pool, signingKey, log, alongside, onQuarantine });
    const laneSource = ledgerLaneSource(pool);
    const { lanes, feed, isReconciler } = redis ? sharedLanes(redis, laneSource, log, closing) : ownLanes(laneSource, journal);
    // What this data directory settled before there was a Redis.
    if (redis) await writerOf(journal).close();
    const ledgerWriter = writerOf(feed);
    await ledgerWriter.drain();
    closing.add('ledger writer', () => ledgerWriter.close());
    const refunds = new Refunds({ pool, lanes, clock, write: () => ledgerWriter.drain() });
    // With the journal drained, whatever refund is still open was never given to the lanes.
    await refunds.resume();
    const keyRefusals = createKeyRefusals({ pool, clock, log });
    closing.add('refusals of keys', () => keyRefusals.settled());
    closing.every(SWEEP_MS, 'sweep of expired holds', async () => {
      const freed = await lanes.sweep(clock.now());
      if (freed > 0) log.warn({ freed }, 'holds expired without being settled');
    });
    closing.every(RECONCILE_MS, 'reconciliation of lanes', async () => {
      const differences = isReconciler() ? await reconcileLanes(lanes, laneSource) : [];
      metrics.laneDifferences(differences.length);
      for (const { laneId, unit, inLane, inLedger } of differences)
        log.fatal({ laneId, unit, inLane: `${inLane}`, inLedger: `${inLedger}` }, 'a lane disagrees with the ledger');
    });

    const secretBox = createSecretBox(masterKeysOf(dataDir, config.masterKeys));
    await resealSecrets({ pool, box: secretBox, log });
    const blobs = await openLocalDisk(dataDir.file('blobs'));
    const catalog = loadCatalog();
    const identity = createIdentity({
      em,
      pool,
      box: secretBox,
      clock,
      onAccountClosed: async (execute, closed) => {
        await revokeAccountKeys(execute, closed);
        await deleteAccountFiles(execute, closed);
      },
    });
    const { users, sessions } = identity;
    const keyDirectory = new CachedKeyDirectory({ read: createReadKey({ em, users }), lastUse: createLastUse({ em, log }), clock });
    closing.add('key directory', () => keyDirectory.close());
    const keys = createKeys({ em, clock, directory: keyDirectory, users, isModel: (id) => catalog.find(id) !== undefined });
    const { storageBytes, ...fileLimits } = config.files;
    const files = createFiles({ pool, blobs, clock, log, storageBytes });
    const uploads = createUploads({ pool, blobs, clock, log, storageBytes });
    const budgets = createBudgets({ pool, keys, lanes, clock });
    const circuits = announcedCircuits({ pool, clock, log });
    const runStore = createRunStore(pool);
    const runs = new RunDirectory({ store: runStore, clock, log });
    const listener = listen(databaseUrl, {
      channels: [KEYS_CHANNEL, RUNS_CHANNEL, CIRCUITS_CHANNEL],
      onNotify: (channel, payload) => {
        if (channel === KEYS_CHANNEL) keyDirectory.changed(payload);
        else if (channel === RUNS_CHANNEL) runs.heard(payload);
        else circuits.heard(payload);
      },
      onConnected: () => {
        keyDirectory.listening();
        runs.listening();
      },
      onLost: () => {
        keyDirectory.deaf();
        runs.deaf();
      },
      log,
    });
    closing.add('listener', () => listener.close());

    const providers = openProviders(config.providers, catalog);
    closing.add('providers', () => providers.close());
    const sandbox = createSandboxProvider();
    closing.add('sandbox provider', () => sandbox.close());
    const tokenizer = createTokenizer();
    closing.add('tokenizer', () => tokenizer.close());
    const heartbeat = new Heartbeat();
    closing.add('heartbeat', async () => heartbeat.close());

    // With port 0 it is known once the port is bound.
    let publicUrl = config.publicUrl ?? '';
    const mailSender = config.smtpUrl
      ? createSmtpSender({ url: config.smtpUrl, from: config.mailFrom })
      : createFileSender({ folder: dataDir.file('mail'), from: config.mailFrom });
    closing.add('mail sender', () => mailSender.close());
    const desk = createDesk(secretBox, () => config.webUrl ?? publicUrl);
    const outbox = createOutbox({ pool, sender: mailSender, desk, log });
    const queue = await openJobQueue({ store: redis ? { redis: redis.forJobs } : { databaseUrl }, log });
    const jobs = await startJobs({ jobs: scheduledJobs({ pool, blobs, clock, identity, outbox }), queue, log, onRun: metrics.jobRan });
    closing.add('jobs', () => jobs.close());

    const internalSecret = config.internalSecret ?? internalSecretOf(dataDir);
    const authenticator = createAuthenticator({ keys: evenRefusals(keyDirectory), sessions, internalSecret });
    const idempotency = createIdempotency({ em, clock, log });
    closing.add('idempotency', async () => idempotency.close());
    const readiness = new Readiness();
    const servedLog = withoutRedaction(log);
    const checkSignature = createSignatureCheck({ clock, publicUrl: () => publicUrl, ...(redis && { nonces: redis.nonces }) });
    const inference: InferenceDeps = {
      catalog,
      deployments: new Deployments(providers.byModel, sandbox, Math.random, circuits.circuits),
      lanes,
      tokenizer,
      clock,
      log,
      heartbeat,
      runs,
      timeouts: config.timeouts,
      problemReply: (problem, { requestId, clientRequestId }) => {
        const { status, headers, body } = toProblemDocument(problem, { requestId: clientRequestId ?? requestId, publicUrl });
        return { status, headers: { ...headers, 'x-request-id': clientRequestId ?? requestId }, body: Buffer.from(JSON.stringify(body)) };
      },
      onRefused: (refused, { grant, startedAt }) => keyRefusals.note(refused, grant.principal, startedAt),
      onServed: (call, served) => {
        metrics.served(call, served);
        servedLog.info(
          { requestId: call.requestId, model: served.target.model.id, outcome: served.outcome, ms: served.completedAt - call.startedAt },
          'settled',
        );
      },
    };
    metrics.watchDeployments(() => inference.deployments.views(clock.now()));
    const front = createFront({
      inference: createInferenceApi({
        authenticator,
        idempotency,
        inference,
        operations: [
          ...STATELESS_OPERATIONS,
          responseOperation({ responses: new StoredResponses(pool, clock), conversations: new Conversations(pool, clock), clock }),
        ],
        checkSignature,
        bodyLimits: config.inferenceBody,
        formLimits: { ...fileLimits, ...INFERENCE_FORM },
        blobs,
      }),
      files: createFileApi({
        files,
        uploads,
        blobs,
        authenticator,
        idempotency,
        limits: fileLimits,
        publicUrl: () => publicUrl,
        log,
      }),
      pages: createPages({ renderMetrics: metrics.render, metricsToken: config.metricsToken, problemReply: inference.problemReply }),
      accountApi: createAccountApi({
        endpoints: [
          ...endpointsOf(contract.discovery, healthRoutes(readiness, { pool, blobs, redis: redis?.prompt })),
          ...endpointsOf(contract.identity, identityRoutes(identity)),
          ...endpointsOf(contract.account, accountRoutes(identity)),
          ...endpointsOf(contract.mfa, mfaRoutes(identity)),
          ...endpointsOf(contract.audit, auditRoutes(identity.auditLog)),
          ...endpointsOf(contract.budgets, budgetRoutes({ budgets, records: createBudgetRecords(pool), keys })),
          ...endpointsOf(contract.keys, keyRoutes({ keys, clock })),
          ...endpointsOf(contract.catalog, catalogRoutes(catalog)),
          ...endpointsOf(contract.files, fileRoutes(files)),
          ...endpointsOf(contract.uploads, uploadRoutes(uploads)),
          ...endpointsOf(contract.ledger, ledgerRoutes({ pool, clock, refunds })),
          ...endpointsOf(contract.deployments, deploymentRoutes({ deployments: inference.deployments, clock })),
          ...endpointsOf(contract.runs, runRoutes({ directory: runs, store: runStore, queries: new RunQueries(pool), lanes, clock })),
          ...endpointsOf(contract.receipts, receiptRoutes(pool)),
        ],
        elsewhere: [...Object.values(contract.inference), ...Object.values(contract.fileTransfers)],
        authenticator,
        idempotency,
        bodyLimits: config.accountBody,
        peerAddress: createPeerAddress(config.trustedProxies),
        publicUrl: () => publicUrl,
        log,
      }),
      problemReply: inference.problemReply,
      log,
    });
    const port = await listenOn(front, config.host, config.port);
    const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    publicUrl ||= url;
    closing.add('requests', async () => {
      readiness.drain();
      await drain(front, config.drainTimeoutMs);
    });
    const made = await bootstrap({ dataDir, users, keys, baseUrl: `${publicUrl}/v1`, internalSecret });
    // Only now is there everything that a script which waits for readiness may look for.
    readiness.start();
    return { url, bootstrap: made, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function startEmbedded(dir: string, log: Log, closing: Closing, onGone: () => void): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dir, log, onGone });
  closing.add('embedded PostgreSQL', () => postgres.stop());
  return postgres.url;
}
