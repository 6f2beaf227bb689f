import { seenBy } from '../access/projects/index.ts';
import { RefusedRequests } from '../inference/calls/index.ts';
import { createBudgets } from '../money/budgets/index.ts';
import { createShownModels } from '../money/catalog/index.ts';
import { unloggedReceipts } from '../receipts/index.ts';
import { Background, timersOf } from './background.ts';
import { metricsTokenOf } from './bootstrap.ts';
import { type Commerce, openCommerce } from './commerce.ts';
import { type Core, openCore } from './core.ts';
import { openDirectory } from './directory.ts';
import { openDiscovery } from './discovery.ts';
import type { Process } from './foundation.ts';
import { AccessControl } from './http/access-control.ts';
import { BodyMemory } from './http/body-memory.ts';
import { Refusals } from './http/refusals.ts';
import { createIdempotency } from './idempotency.ts';
import { openLive } from './live.ts';
import { planForReceipts } from './plans.ts';
import { openSite } from './site.ts';
import { openSurroundings } from './surroundings.ts';
import { openFleet } from './workers/open-fleet.ts';

/** Everything that the process has, before it listens. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Built in order; what is opened is closed in the opposite order. */
export async function openParts(process: Process, publicUrl: () => string) {
  const core = await openCore(process, publicUrl);
  const commerce = await openCommerce(core);
  const around = await openSurroundings(core, commerce);
  const timers = await timersOf(core, commerce, around);
  const background = new Background(core.foundation, around.queue, { jobs: around.kept.jobs, timers });
  const onTop = openOnTop(core, commerce);
  watchLags(core);
  return { ...core, ...commerce, ...around, background, ...onTop };
}

/** What answers are made with, of the parts beneath. */
function openOnTop(core: Core, { live }: Commerce) {
  const { foundation, ownLog, catalog, billing, accounts, serving, publicUrl, problemReply } = core;
  const { config, pool, clock, log, steady, closing, dataDir, metrics, authority } = foundation;
  const directory = openDirectory(foundation, { identity: accounts.identity, publicUrl });
  const idempotency = createIdempotency({ pool, clock, log });
  closing.add('idempotency', async () => idempotency.close());
  const discovery = openDiscovery({ catalog, config, securityContact: config.securityContact, publicUrl, clock });
  const metricsToken = config.metricsToken ?? metricsTokenOf(dataDir);
  const accessControl = new AccessControl(accounts.authenticator);
  const isHttps = config.publicUrl?.startsWith('https:') === true;
  const { internalSecret } = accounts;
  const fleet = openFleet({ foundation, billing, serving, keptLog: ownLog.kept, internalSecret, metricsToken });
  const renderMetrics = authority ? () => authority.calls.call('renderMetrics') : () => metrics.render();
  const budgets = createBudgets({ pool, keys: accounts.keys, lanes: billing.lanes, clock });
  const forReaders = { requirePlan: planForReceipts(live), seenBy: seenBy(pool) };
  return {
    ...{ directory, idempotency, discovery, metricsToken, accessControl, isHttps, fleet, budgets, forReaders },
    site: openSite({ accessControl, isHttps, renderMetrics, metricsToken, documents: discovery.documents }),
    refusals: new Refusals({ log, problemReply, onRefused: metrics.refused }),
    refusedRequests: new RefusedRequests(serving.inference, steady),
    bodyMemory: new BodyMemory(config.bodies.largeBodiesBytes),
    liveFigures: openLive({ foundation, budgets, runs: serving.runs.queries, ...forReaders }),
    shown: createShownModels({ catalog, isServed: (model) => serving.inference.deployments.serves(model), clock }),
    pageOf: (slug: string) => `${config.webUrl ?? publicUrl()}/events/${slug}`,
  };
}

function watchLags({ foundation: { pool, metrics, authority }, billing }: Core): void {
  if (authority) return;
  metrics.watchLags({ ledgerMs: async () => (await billing.booksState()).lag.ms, unloggedReceipts: () => unloggedReceipts(pool) });
}
