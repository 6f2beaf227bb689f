import type { Server } from 'node:http';
import { contract } from '@tallygate/contract';
import { seenBy } from '../access/projects/index.ts';
import { sealedBlobs } from '../adapters/blobs/sealed-blobs.ts';
import { openJobQueue } from '../adapters/queue/bullmq.ts';
import type { RunningTimers } from '../adapters/timers/port.ts';
import { startTimers } from '../adapters/timers/postgres-timers.ts';
import { tlogWitness } from '../adapters/witness/tlog-witness.ts';
import { clientRequestRoutes, createClientRequests } from '../community/client-requests/index.ts';
import { contentRoutes, createContent } from '../community/content/index.ts';
import {
  checkoutRoutes,
  createEvents,
  followPayments,
  marketingEventRoutes,
  registrationRoutes,
  siteEventRoutes,
} from '../community/events/index.ts';
import { createInvites, inviteRoutes } from '../community/invites/index.ts';
import { deploymentRoutes, googleModelRoutes, RefusedRequests } from '../inference/calls/index.ts';
import { blobSealingKeys } from '../inference/files/index.ts';
import { type Clock, steadyMs, systemClock } from '../kernel/clock.ts';
import { restoreFastStringMethods } from '../kernel/fast-string-methods.ts';
import { createLog, flushed } from '../kernel/log.ts';
import { budgetRoutes, createBudgetRecords, createBudgets } from '../money/budgets/index.ts';
import { CatalogAdministration, catalogRoutes, createShownModels } from '../money/catalog/index.ts';
import { Limits, limitRoutes } from '../money/limits/index.ts';
import { createAccountPlans, createPlans, planAdministrationRoutes, planOfSeller, planRoutes } from '../money/plans/index.ts';
import { runRoutes } from '../money/runs/index.ts';
import { anchorRoutes, invoiceRoutes, publishedKeySet, receiptKeyOf, receiptRoutes, unloggedReceipts } from '../receipts/index.ts';
import { accessEndpoints } from './access-endpoints.ts';
import { openAccounts } from './accounts.ts';
import { anchoringTimers } from './anchoring.ts';
import { anchorAnswerOf } from './anchoring-config.ts';
import { openBilling } from './billing.ts';
import { type Bootstrap, bootstrap, metricsTokenOf } from './bootstrap.ts';
import { openCapacity } from './capacity.ts';
import { openCatalog, rereadModels } from './catalog.ts';
import { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { openDirectory } from './directory.ts';
import { openDiscovery } from './discovery.ts';
import { openFoundation, type Process } from './foundation.ts';
import { healthRoutes, Readiness } from './health.ts';
import { AccessControl } from './http/access-control.ts';
import { endpointRoutes } from './http/account-api.ts';
import { createAnswerHeaders } from './http/answer-headers.ts';
import { BodyMemory } from './http/body-memory.ts';
import { withConsoleAtRoot } from './http/console.ts';
import { endpointsOf } from './http/endpoint.ts';
import { eventPageRoutes } from './http/event-pages.ts';
import { fileTransferRoutes } from './http/file-api.ts';
import { createFront } from './http/front.ts';
import { INFERENCE_FORM } from './http/inference-form.ts';
import { createInnerCall } from './http/inner-call.ts';
import { withLiveStream } from './http/live-api.ts';
import { logRoutes } from './http/log-api.ts';
import { mcpRoutes } from './http/mcp-api.ts';
import { messageBatchRoutesOf } from './http/message-batch-api.ts';
import { withModelsOnSurfaces } from './http/model-api.ts';
import { modelRoutes } from './http/model-routes.ts';
import { paymentRoutes } from './http/payment-api.ts';
import { createPeerAddress } from './http/peer-address.ts';
import { createProblemReply } from './http/problem-document.ts';
import { RefusalLimits } from './http/refusal-limits.ts';
import { Refusals } from './http/refusals.ts';
import { withCountedTokens, withResponseStream } from './http/response-api.ts';
import { scimRoutes } from './http/scim-api.ts';
import { signInRoutes } from './http/sign-in-api.ts';
import { trustedPages } from './http/trusted-pages.ts';
import { usageTransferRoutes } from './http/usage-transfer-api.ts';
import { videoRoutes } from './http/video-api.ts';
import { createIdempotency } from './idempotency.ts';
import { type RunningJobs, startJobs } from './jobs.ts';
import { ledgerEndpoints } from './ledger-endpoints.ts';
import { type Addresses, createDedicatedFront, openListeners, routesByAddress } from './listeners.ts';
import { openLive } from './live.ts';
import { openMarketing } from './marketing.ts';
import { openPayments } from './payments.ts';
import { isSelling, isTryOut, openPlans, openTestBilling, planForReceipts } from './plans.ts';
import { openReceiptLog } from './receipt-log.ts';
import { recurringWork } from './recurring-work.ts';
import { openServing } from './serving.ts';
import { openSite } from './site.ts';
import { openStatefulResources } from './stateful-resources.ts';
import { openWebhooks } from './webhooks.ts';
import { openFleet } from './workers/open-fleet.ts';

export interface RunningServer extends Addresses {
  readonly bootstrap: Bootstrap;
  /** Reads again what is read at a SIGHUP: the operator's models. */
  reload(): Promise<void>;
  /** Takes no new requests, lets the running ones end, writes what is settled, and stops. */
  close(): Promise<void>;
}

/**
 * Everything in one process, built in order; what is opened is closed in the opposite order.
 * @param clock of everything that has a date: periods, invoices
 * @param steady of what must not jump with the time of day: rate limits
 * @param authority of a worker: the process that has started it
 */
export async function startServer(
  config: Config,
  onFatal: () => void,
  clock: Clock = systemClock,
  steady: () => number = steadyMs,
  authority?: Process['authority'],
): Promise<RunningServer> {
  restoreFastStringMethods();
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

    const problemReply = createProblemReply(publicUrl);
    const foundation = await openFoundation({ config, log, clock, steady, closing, onFatal, authority });
    const { dataDir, databaseUrl, redis, pool, pulse, rawBlobs, archive, metrics } = foundation;
    const { ownKeys, kept: keptLog, declaring, placing } = await openReceiptLog(foundation);
    const catalog = await openCatalog(foundation, declaring);
    const billing = await openBilling(foundation, catalog, { ownKeys, placing });
    const { lanes, refunds, corrections, sealKey, write } = billing;
    // Before the accounts: which plan they are on is asked of them.
    const planBook = await openPlans(foundation);
    const capacity = await openCapacity(config, foundation);
    const bodyMemory = new BodyMemory(config.bodies.largeBodiesBytes);
    const accounts = await openAccounts({ foundation, catalog, publicUrl, plans: planBook });
    const { identity, keys, authenticator, clientSecrets } = accounts;
    const forServing = { foundation, catalog, billing, ownKeys, accounts, publicUrl, problemReply, plans: planBook, capacity };
    const { inference, checkSignature, nonces, discovery: modelDiscovery, runs } = await openServing(forServing);
    const refusedRequests = new RefusedRequests(inference, steady);

    const payments = await openPayments(config.stripe, { pool, clock, log, publicUrl });
    closing.add('payments', () => payments.provider.close());
    const { book, planOfAccount } = planBook;
    const live = createAccountPlans({ pool, livemode: true, lanes, clock, write, book, planOfAccount, sealKey });
    // What the sandbox takes pays for nothing live: no lane hears of it.
    const payingPlans = payments.provider.livemode
      ? live
      : createAccountPlans({
          ...{ pool: openTestBilling(foundation, closing), livemode: false, clock, book, planOfAccount: planOfSeller(book), sealKey },
          ...{ lanes: { refreshCredit: async () => {} }, write: async () => {} },
        });
    const forPlans = { provider: payments.provider, log, publicUrl, onPurchase: followPayments({ clock }) };
    const plans = createPlans(payingPlans, { ...forPlans, canBuyReal: isSelling(config) || isTryOut(config) });

    const events = createEvents({ pool: plans.pool, clock, identity, plans });
    const pageOf = (slug: string) => `${config.webUrl ?? publicUrl()}/events/${slug}`;

    const keySet = () => publishedKeySet(pool, ownKeys);
    const receiptKey = receiptKeyOf(ownKeys);
    const blobs = sealedBlobs(rawBlobs, blobSealingKeys(accounts.content));
    const queue = await openJobQueue({ store: redis ? { redis: redis.forJobs } : { databaseUrl, Client: pulse.Client }, log });
    const kept = await openStatefulResources({ foundation, blobs, queue, billing, accounts, inference, plans: book, publicUrl });
    const peerAddress = createPeerAddress(config.trustedProxies);
    const readiness = new Readiness();
    const webhooks = openWebhooks({ foundation, accounts, readiness });
    const marketing = openMarketing({ foundation, accounts, peerAddress, publicUrl });
    const invites = createInvites({ pool, clock, identity, plans: live, unsubscribeFooter: marketing.unsubscribeFooter });
    const anchoring = await anchoringTimers(foundation, ownKeys.checkpoint);
    const timers = [
      ...kept.timers,
      ...anchoring,
      ...marketing.timers,
      ...webhooks.timers,
      ...recurringWork({
        ...{ pool, blobs, rawBlobs, archive, usageDetailMonths: config.usageDetailMonths, auditLogMonths: config.auditLogMonths },
        clock,
        identity,
        live,
        plans,
        events,
        invites,
        outbox: accounts.outbox,
        batchWork: kept.batchWork,
        ownKeys,
        keptLog,
        witnesses: config.logWitnesses.map(({ url, key }) => ({ key, witness: tlogWitness(url) })),
        metrics,
      }),
    ];
    let jobs: RunningJobs | undefined;
    closing.add('jobs', async () => (jobs ?? queue).close());
    let recurring: RunningTimers | undefined;
    closing.add('timers', async () => recurring?.close());

    const directory = openDirectory(foundation, { identity, publicUrl });
    const idempotency = createIdempotency({ pool, clock, log });
    closing.add('idempotency', async () => idempotency.close());
    if (!authority)
      metrics.watchLags({ ledgerMs: async () => (await billing.booksState()).lag.ms, unloggedReceipts: () => unloggedReceipts(pool) });
    const isModel = (id: string) => catalog.find(id) !== undefined;
    const forgetKeys = (accountId: string) => accounts.keyDirectory.changed(`account:${accountId}`);
    const discovery = openDiscovery({ catalog, config, securityContact: config.securityContact, publicUrl, clock });
    const { storageBytes: _, ...fileLimits } = config.files;
    const metricsToken = config.metricsToken ?? metricsTokenOf(dataDir);
    const accessControl = new AccessControl(authenticator);
    const isHttps = config.publicUrl?.startsWith('https:') === true;
    const { internalSecret } = accounts;
    const fleet = openFleet({ foundation, billing, serving: { nonces, inference }, keptLog, internalSecret, metricsToken });
    const renderMetrics = authority ? () => authority.calls.call('renderMetrics') : () => metrics.render();
    const site = openSite({ accessControl, isHttps, renderMetrics, metricsToken, documents: discovery.documents });
    const refusals = new Refusals({ log, problemReply, onRefused: metrics.refused });
    const isAnchoring = config.anchorChains.length > 0;
    const anchorAnswer = anchorAnswerOf(config);
    const { idleTimeoutMs } = fileLimits;
    const budgets = createBudgets({ pool, keys, lanes, clock });
    const forReaders = { requirePlan: planForReceipts(live), seenBy: seenBy(pool) };
    const liveFigures = openLive({ foundation, budgets, runs: runs.queries, ...forReaders });
    const shown = createShownModels({ catalog, isServed: (model) => inference.deployments.serves(model), clock });
    const endpoints = endpointRoutes({
      endpoints: [
        ...endpointsOf(
          contract.discovery,
          healthRoutes({
            readiness,
            needs: { ...foundation, ...billing, blobs, redis: redis?.prompt },
            publicUrl,
            hasDocs: site.hasDocs,
          }),
        ),
        ...accessEndpoints({ ...foundation, identity, keys, ...directory, publicUrl }),
        ...endpointsOf(contract.budgets, budgetRoutes({ budgets, records: createBudgetRecords(pool), keys })),
        ...endpointsOf(contract.limits, limitRoutes(new Limits({ pool, lanes, clock, isModel, forgetKeys }))),
        ...endpointsOf(
          contract.catalog,
          catalogRoutes({
            ...{ catalog, shown },
            administration: new CatalogAdministration({ pool, catalog, log: declaring }),
            discover: () => modelDiscovery.discover(),
            clock,
          }),
        ),
        ...endpointsOf(contract.googleModels, googleModelRoutes({ ...inference, shown })),
        ...kept.endpoints,
        ...marketing.endpoints,
        ...webhooks.endpoints,
        ...liveFigures.endpoints,
        ...ledgerEndpoints({ pool, archive, clock, refunds, corrections }),
        ...endpointsOf(contract.deployments, deploymentRoutes({ deployments: inference.deployments, clock })),
        ...endpointsOf(contract.runs, runRoutes({ ...runs, lanes, write, clock, ...forReaders })),
        ...endpointsOf(contract.plans, planRoutes({ live, paying: plans }, clock)),
        ...endpointsOf(contract.accounts, planAdministrationRoutes(live, config.dedicated ? config.gatewayConcurrency : null)),
        ...endpointsOf(contract.receipts, receiptRoutes({ pool, archive, key: receiptKey, keySet, ...forReaders, isAnchoring })),
        ...endpointsOf(contract.invoices, invoiceRoutes({ pool, key: receiptKey })),
        ...endpointsOf(contract.anchors, anchorRoutes({ pool, archive })),
        ...endpointsOf(contract.invites, inviteRoutes(invites, clock)),
        ...endpointsOf(contract.clientRequests, clientRequestRoutes(createClientRequests({ pool, clock, throttle: identity.throttle }))),
        ...endpointsOf(contract.content, contentRoutes(createContent({ pool, clock }))),
        ...endpointsOf(contract.siteEvents, siteEventRoutes({ ...events, clock, pageOf })),
        ...endpointsOf(contract.marketingEvents, marketingEventRoutes({ ...events, pool, clock })),
        ...endpointsOf(contract.eventCheckouts, checkoutRoutes(events)),
        ...endpointsOf(contract.registrations, registrationRoutes({ ...events, clock })),
      ],
      ...{ accessControl, idempotency, refusals, peerAddress },
      ...{ bodyLimits: config.bodies.accountBody, largeBodyLimits: config.bodies.keptBody, bodyMemory },
    });
    const inferenceDeps = {
      ...{ refusals, idempotency, inference, operations: kept.operations, checkSignature, blobs, refusedRequests, anchorAnswer },
      ...{ clientSecrets, bodyLimits: config.bodies.inferenceBody, bodyMemory },
      formLimits: { ...fileLimits, ...INFERENCE_FORM },
    };
    const frontDeps = {
      ...{ refusals, problemReply, clock, log, isDraining: () => readiness.isDraining },
      refusalLimits: new RefusalLimits({ perMinute: config.refusalsPerMinute, peerAddress }),
      headers: createAnswerHeaders({ isHttps }),
    };
    const following = { accounts: liveFigures.accounts, accessControl, isDraining: () => readiness.isDraining };
    const routes = routesByAddress(
      [
        ...modelRoutes({ ...inferenceDeps, accessControl, sharedLane: capacity.sharedLane }),
        ...withConsoleAtRoot(
          withModelsOnSurfaces(
            withCountedTokens(withResponseStream(withLiveStream(endpoints, following), kept.followResponse), refusedRequests),
            shown,
          ),
        ),
        ...fileTransferRoutes({
          ...{ files: kept.files, uploads: kept.uploads, blobs, limits: fileLimits },
          ...{ accessControl, idempotency, refusals, log },
        }),
        ...videoRoutes({ videos: kept.videos, idleTimeoutMs, log }),
        ...messageBatchRoutesOf({ messageBatches: kept.messageBatches, idleTimeoutMs, log }),
        ...logRoutes({
          ...{ pool, archive, key: receiptKey, clock, keySet, log, idleTimeoutMs, isAnchoring },
          ...forReaders,
        }),
        ...usageTransferRoutes({ pool, clock, log, limits: fileLimits }),
        ...mcpRoutes({
          offer: discovery.offer,
          innerCall: createInnerCall({ front: () => front }),
          pages: trustedPages(config, publicUrl),
          ...{ accessControl, refusedRequests, peerAddress, publicUrl, clock, log },
          ...{ bodyLimits: config.bodies.keptBody, bodyMemory },
        }),
        ...marketing.routes,
        ...(directory.signIns ? signInRoutes({ signIns: directory.signIns, publicUrl, webUrl: config.webUrl, peerAddress, log }) : []),
        ...scimRoutes({ ...directory, publicUrl, peerAddress }),
        ...eventPageRoutes({ events, clock, peerAddress, pageOf, log }),
        ...paymentRoutes({ receive: plans.events.receive, hasWebhookSecret: config.stripe !== undefined, pages: payments.pages }),
        ...site.routes,
      ],
      config,
    );
    const front: Server = createFront({ ...frontDeps, accessControl, routes: routes.shared });
    const operationsFront = routes.operations && createFront({ ...frontDeps, accessControl, routes: routes.operations });
    const dedicatedAccess = new AccessControl(authenticator, 'dedicated');
    const dedicatedFront =
      config.dedicated &&
      createDedicatedFront(
        { ...frontDeps, accessControl: dedicatedAccess },
        {
          inference: modelRoutes({ ...inferenceDeps, accessControl: dedicatedAccess, sharedLane: undefined }),
          others: withModelsOnSurfaces(endpoints, shown),
        },
      );
    const fronts = { shared: front, dedicated: dedicatedFront, operations: operationsFront };
    const addresses = fleet ? await fleet.start() : await openListeners(fronts, { ...foundation, readiness, inference });
    boundUrl ??= addresses.url;
    // Not before the address is known, which is in the links of mails and on the pages of payments.
    await payments.start(plans, closing);
    if (!authority) {
      if (!isTryOut(config)) await events.owedAgain();
      jobs = await startJobs({ jobs: kept.jobs, queue, log, onRun: metrics.jobRan, watch: metrics.watchJobs });
      recurring = startTimers({ timers, pool, clock, log, onRun: ({ timer, outcome }) => metrics.jobRan({ job: timer, outcome }) });
    }
    const made = authority
      ? await authority.listening(addresses, metrics)
      : await bootstrap({ dataDir, users: identity.users, keys, baseUrl: `${publicUrl()}/v1`, internalSecret, metricsToken });
    // Only now is there everything that a script which waits for readiness may look for.
    readiness.start();
    pulse.serve();
    fleet?.serve(made);
    return {
      ...addresses,
      bootstrap: made,
      reload: () => rereadModels({ ...foundation, prices: declaring }, catalog),
      close: () => closing.close(),
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
