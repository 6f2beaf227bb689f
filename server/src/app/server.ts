import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { contract } from '@tallygate/contract';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import { openJobQueue } from '../adapters/queue/bullmq.ts';
import { tlogWitness } from '../adapters/witness/tlog-witness.ts';
import { budgetRoutes, createBudgetRecords, createBudgets } from '../budgets/index.ts';
import { catalogRoutes, loadCatalog } from '../catalog/index.ts';
import { clientRequestRoutes, createClientRequests } from '../client-requests/index.ts';
import { contentRoutes, createContent } from '../content/index.ts';
import {
  checkoutRoutes,
  createEvents,
  followPayments,
  marketingEventRoutes,
  registrationRoutes,
  siteEventRoutes,
} from '../events/index.ts';
import { accountRoutes, auditRoutes, deviceLoginRoutes, identityRoutes, mfaRoutes, userRoutes } from '../identity/index.ts';
import { deploymentRoutes } from '../inference/index.ts';
import { createInvites, inviteRoutes } from '../invites/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createLog, flushed } from '../kernel/log.ts';
import { keyRoutes } from '../keys/index.ts';
import { ledgerRoutes } from '../ledger/index.ts';
import { createPlans, planRoutes } from '../plans/index.ts';
import { anchorRoutes, publishedKeySet, receiptRoutes } from '../receipts/index.ts';
import { runRoutes } from '../runs/index.ts';
import { openAccounts } from './accounts.ts';
import { anchoringJobs } from './anchoring.ts';
import { openBooks } from './books.ts';
import { type Bootstrap, bootstrap } from './bootstrap.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { openDiscovery } from './discovery.ts';
import { openFoundation } from './foundation.ts';
import { healthRoutes, Readiness } from './health.ts';
import { createAccountApi } from './http/account-api.ts';
import { createDocsSite } from './http/docs-site.ts';
import { createDocumentPages } from './http/document-pages.ts';
import { endpointsOf } from './http/endpoint.ts';
import { createEventPages } from './http/event-pages.ts';
import { createFileApi } from './http/file-api.ts';
import { createFront, drain, listenOn } from './http/front.ts';
import { createInferenceApi } from './http/inference-api.ts';
import { createInnerCall } from './http/inner-call.ts';
import { createLogApi } from './http/log-api.ts';
import { createMcpApi } from './http/mcp-api.ts';
import { createPages } from './http/pages.ts';
import { createPaymentApi } from './http/payment-api.ts';
import { createPeerAddress } from './http/peer-address.ts';
import { createResponseApi } from './http/response-api.ts';
import { trustedPages } from './http/trusted-pages.ts';
import { createVideoApi } from './http/video-api.ts';
import { createIdempotency } from './idempotency.ts';
import { type RunningJobs, startJobs } from './jobs.ts';
import { keptLogState } from './kept-log-state.ts';
import { openKeptWork } from './kept-work.ts';
import { openMarketing } from './marketing.ts';
import { openPayments } from './payments.ts';
import { scheduledJobs } from './scheduled-jobs.ts';
import { openServing } from './serving.ts';

/** What ending the last connections takes, once they are cut. */
const DRAIN_SLACK_MS = 5_000;
const DOCS_SITE = fileURLToPath(new URL('../../../docs/site/dist', import.meta.url));

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

/**
 * Everything in one process, built in order; what is opened is closed in the opposite order.
 * @param clock of everything that has a date: holds, periods, invoices
 */
export async function startServer(config: Config, onFatal: () => void, clock: Clock = systemClock): Promise<RunningServer> {
  const log = createLog(config.logLevel);
  const closing = new Closing(log);
  closing.add('log', () => flushed(log));
  try {
    // With port 0 it is known once the port is bound.
    let boundUrl = config.publicUrl;
    const publicUrl = (): string => {
      if (boundUrl === undefined) throw new Error('The address is not known before the port is bound');
      return boundUrl;
    };

    const foundation = await openFoundation({ config, log, clock, closing, onFatal });
    const { dataDir, redis, pool, em, metrics } = foundation;
    const catalog = loadCatalog();
    const books = await openBooks(foundation, catalog);
    const { lanes, refunds, corrections } = books;
    const accounts = await openAccounts({ foundation, catalog, publicUrl });
    const { identity, keys, authenticator } = accounts;
    const { inference, checkSignature, runs } = openServing({ foundation, catalog, books, accounts, publicUrl });
    const { problemReply } = inference;

    const payments = await openPayments(config.stripe, { pool, clock, log, publicUrl });
    closing.add('payments', () => payments.provider.close());
    const plans = createPlans({
      pool,
      provider: payments.provider,
      lanes,
      clock,
      log,
      write: books.write,
      publicUrl,
      onPurchase: followPayments({ clock }),
    });

    const events = createEvents({ pool, clock, identity, plans });
    const pageOf = (slug: string) => `${config.webUrl ?? publicUrl()}/events/${slug}`;

    const keySet = () => publishedKeySet(pool, books.ownKeys);
    const blobs = await openLocalDisk(dataDir.file('blobs'));
    const queue = await openJobQueue({ store: redis ? { redis: redis.forJobs } : { databaseUrl: foundation.databaseUrl }, log });
    const kept = await openKeptWork({ foundation, blobs, queue, books, accounts, inference });
    const peerAddress = createPeerAddress(config.trustedProxies);
    const marketing = openMarketing({ foundation, accounts, peerAddress, publicUrl });
    const invites = createInvites({ pool, clock, identity, gifts: plans.gifts, wayOut: marketing.wayOut });
    const anchoring = await anchoringJobs(foundation, books.ownKeys.checkpoint);
    const startWork = () =>
      startJobs({
        jobs: [
          ...kept.jobs,
          ...anchoring,
          ...marketing.jobs,
          ...scheduledJobs({
            pool,
            blobs,
            clock,
            identity,
            plans,
            events,
            invites,
            outbox: accounts.outbox,
            batchWork: kept.batchWork,
            ownKeys: books.ownKeys,
            keptLog: keptLogState(dataDir.file('receipt-log.note')),
            witnesses: config.logWitnesses.map(({ url, key }) => ({ key, witness: tlogWitness(url) })),
            metrics,
          }),
        ],
        queue,
        log,
        onRun: metrics.jobRan,
      });
    let jobs: RunningJobs | undefined;
    closing.add('jobs', async () => (jobs ?? queue).close());

    const idempotency = createIdempotency({ em, clock, log });
    closing.add('idempotency', async () => idempotency.close());
    const readiness = new Readiness();
    const docs = createDocsSite(DOCS_SITE);
    const discovery = openDiscovery({ catalog, securityContact: config.securityContact, publicUrl, clock });
    const { storageBytes: _, ...fileLimits } = config.files;
    const front: Server = createFront({
      inference: createInferenceApi({
        ...{ authenticator, idempotency, inference, operations: kept.operations, checkSignature, blobs },
        bodyLimits: config.inferenceBody,
        formLimits: { ...fileLimits, ...INFERENCE_FORM },
      }),
      files: createFileApi({
        ...{ files: kept.files, uploads: kept.uploads, blobs, authenticator, idempotency, publicUrl, log },
        limits: fileLimits,
      }),
      responses: createResponseApi({ authenticator, follow: kept.followResponse, publicUrl, log }),
      videos: createVideoApi({ videos: kept.videos, authenticator, idleTimeoutMs: fileLimits.idleTimeoutMs, publicUrl, log }),
      documents: createDocumentPages(discovery.documents),
      mcp: createMcpApi({
        offer: discovery.offer,
        innerCall: createInnerCall({ front: () => front }),
        pages: trustedPages(config, publicUrl),
        ...{ authenticator, peerAddress, publicUrl, log },
        bodyLimits: config.inferenceBody,
      }),
      people: marketing.transfers,
      events: createEventPages({ events, clock, peerAddress, pageOf, log }),
      mailAnswers: marketing.mailAnswerPages,
      receipts: createLogApi({
        ...{ pool, clock, keySet, authenticator, publicUrl, log },
        ...{ idleTimeoutMs: fileLimits.idleTimeoutMs, isAnchoring: config.anchorChains.length > 0 },
      }),
      payments: createPaymentApi({ receive: plans.events.receive, pages: payments.pages, problemReply, log }),
      docs,
      pages: createPages({ renderMetrics: metrics.render, metricsToken: config.metricsToken, problemReply }),
      accountApi: createAccountApi({
        endpoints: [
          ...endpointsOf(
            contract.discovery,
            healthRoutes({ readiness, needs: { pool, blobs, redis: redis?.prompt }, publicUrl, hasDocs: docs.isBuilt }),
          ),
          ...endpointsOf(contract.identity, identityRoutes(identity)),
          ...endpointsOf(contract.account, accountRoutes(identity)),
          ...endpointsOf(contract.deviceLogins, deviceLoginRoutes(identity, publicUrl)),
          ...endpointsOf(contract.mfa, mfaRoutes(identity)),
          ...endpointsOf(contract.users, userRoutes(identity)),
          ...endpointsOf(contract.audit, auditRoutes(identity.auditLog)),
          ...endpointsOf(
            contract.budgets,
            budgetRoutes({ budgets: createBudgets({ pool, keys, lanes, clock }), records: createBudgetRecords(pool), keys }),
          ),
          ...endpointsOf(contract.keys, keyRoutes({ keys, clock })),
          ...endpointsOf(contract.catalog, catalogRoutes(catalog)),
          ...kept.endpoints,
          ...marketing.endpoints,
          ...endpointsOf(contract.ledger, ledgerRoutes({ pool, clock, refunds, corrections })),
          ...endpointsOf(contract.deployments, deploymentRoutes({ deployments: inference.deployments, clock })),
          ...endpointsOf(contract.runs, runRoutes({ ...runs, lanes, clock })),
          ...endpointsOf(contract.plans, planRoutes(plans, clock)),
          ...endpointsOf(contract.receipts, receiptRoutes({ pool, keySet, isAnchoring: config.anchorChains.length > 0 })),
          ...endpointsOf(contract.anchors, anchorRoutes(pool)),
          ...endpointsOf(contract.invites, inviteRoutes(invites, clock)),
          ...endpointsOf(contract.clientRequests, clientRequestRoutes(createClientRequests({ pool, clock, throttle: identity.throttle }))),
          ...endpointsOf(contract.content, contentRoutes(createContent({ pool, clock }))),
          ...endpointsOf(contract.siteEvents, siteEventRoutes({ ...events, clock, pageOf })),
          ...endpointsOf(contract.marketingEvents, marketingEventRoutes({ ...events, pool, clock })),
          ...endpointsOf(contract.eventCheckouts, checkoutRoutes(events)),
          ...endpointsOf(contract.registrations, registrationRoutes({ ...events, clock })),
        ],
        elsewhere: [
          ...Object.values(contract.documents),
          ...Object.values(contract.paymentWebhooks),
          ...Object.values(contract.inference),
          ...Object.values(contract.fileTransfers),
          ...Object.values(contract.videoTransfers),
          ...Object.values(contract.peopleTransfers),
          ...Object.values(contract.receiptTransfers),
        ],
        ...{ authenticator, idempotency, publicUrl, log },
        bodyLimits: config.accountBody,
        largeBodyLimits: config.inferenceBody,
        peerAddress,
      }),
      problemReply,
      log,
    });
    const port = await listenOn(front, config.host, config.port);
    const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
    boundUrl ??= url;
    closing.add(
      'requests',
      async () => {
        readiness.drain();
        await drain(front, config.drainTimeoutMs);
      },
      config.drainTimeoutMs + DRAIN_SLACK_MS,
    );
    // Not before the address is known, which is in the links of mails and on the pages of payments.
    await payments.start(plans, closing);
    jobs = await startWork();
    const { internalSecret } = accounts;
    const made = await bootstrap({ dataDir, users: identity.users, keys, baseUrl: `${publicUrl()}/v1`, internalSecret });
    // Only now is there everything that a script which waits for readiness may look for.
    readiness.start();
    return { url, bootstrap: made, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
