import { KEYS_CHANNEL } from '../access/keys/index.ts';
import { listen } from '../adapters/postgres/listener.ts';
import { createSandboxProvider } from '../adapters/upstream/sandbox/index.ts';
import {
  CachedAnswers,
  type Call,
  costOfUsage,
  createAnswerCache,
  createSignatureCheck,
  createTokenizer,
  Deployments,
  Heartbeat,
  type InferenceDeps,
  keyIdOf,
  NonceMemory,
  type Nonces,
  newGatewayId,
  projectOf,
  RealtimeSessions,
  RunningCalls,
  type Served,
  SetAside,
  type SignatureCheck,
  UnsettledCalls,
} from '../inference/calls/index.ts';
import { withoutRedaction } from '../kernel/log.ts';
import { formatUsd, type NanoUsd } from '../kernel/money.ts';
import { createKeyRefusals } from '../money/budgets/index.ts';
import { CATALOG_CHANNEL, type LiveCatalog } from '../money/catalog/index.ts';
import { LimitRefusals } from '../money/limits/index.ts';
import { CAPACITY_CHANNEL, PLANS_CHANNEL } from '../money/plans/index.ts';
import { createRunStore, ExhaustedRuns, RUNS_CHANNEL, RunDirectory, RunQueries } from '../money/runs/index.ts';
import { type OwnKeys, promiseKeyOf, ReceiptPromises, receiptKeyOf, startNonceThread } from '../receipts/index.ts';
import type { Accounts } from './accounts.ts';
import { announcedCircuits, CIRCUITS_CHANNEL } from './announced-circuits.ts';
import type { Billing } from './billing.ts';
import type { Capacity } from './capacity.ts';
import type { Foundation } from './foundation.ts';
import type { ProblemReply } from './http/problem-document.ts';
import { measuredLanes } from './measured-lanes.ts';
import { ModelDiscovery } from './model-discovery.ts';
import { openNonceJournal } from './nonce-journal.ts';
import type { OpenPlans } from './plans.ts';
import { deploymentsOf, isDiscovered, openProviders, refuseIdle } from './providers.ts';
import { openTracing } from './tracing.ts';

const DISCOVERY_MS = 60_000;

export interface Serving {
  readonly inference: InferenceDeps & { readonly sessions: RealtimeSessions };
  readonly checkSignature: SignatureCheck;
  /** Which nonces of signed requests were used, in all processes of the gateway. */
  readonly nonces: Nonces;
  /** Asks the providers which models they serve. */
  readonly discovery: ModelDiscovery;
  readonly runs: { readonly directory: RunDirectory; readonly store: ReturnType<typeof createRunStore>; readonly queries: RunQueries };
}

interface ServingDeps {
  readonly foundation: Foundation;
  readonly catalog: LiveCatalog;
  readonly billing: Billing;
  readonly ownKeys: OwnKeys;
  readonly accounts: Accounts;
  readonly publicUrl: () => string;
  readonly problemReply: ProblemReply;
  readonly plans: OpenPlans;
  readonly capacity: Capacity;
}

/** What a call needs on its way to a provider and back, and what hears of changes made by other gateways. */
export async function openServing(deps: ServingDeps): Promise<Serving> {
  const { foundation, publicUrl } = deps;
  const { clock, log, closing, redis, pool } = foundation;
  const refusals = openRefusals(foundation);
  const circuits = await openCircuits(foundation);
  const store = createRunStore(pool);
  const onExhausted = refusals.exhausted.note.bind(refusals.exhausted);
  const directory = new RunDirectory({ store, clock, log, onExhausted });
  const changes = listenForChanges(deps, { directory, circuits });
  closing.add('listener', () => changes.close());
  const { providers, discovery } = await openConfiguredProviders(deps);
  const sandbox = createSandboxProvider();
  closing.add('sandbox provider', () => sandbox.close());
  const inference: Serving['inference'] = {
    sessions: new RealtimeSessions(foundation.config.realtimeSessionsPerKey),
    ...openCallTools(deps),
    ...inferenceDeps(deps, refusals.note),
    deployments: openDeployments(deps, new Deployments(new Map(), sandbox, Math.random, circuits.circuits), providers),
    runs: directory,
    answers: openAnswers(deps),
  };
  const nonces = redis?.nonces ?? noncesOf(foundation);
  const checkSignature = createSignatureCheck({ clock, publicUrl, nonces });
  return { inference, checkSignature, nonces, discovery, runs: { directory, store, queries: new RunQueries(pool) } };
}

/** Answers that are given again to those who ask for it. Undefined where the operator keeps none. */
function openAnswers({ foundation, accounts: { content, storing } }: ServingDeps) {
  const { config, pool, clock, log } = foundation;
  if (config.answerCacheBytes === 0 || !config.storesContent) return undefined;
  const answers = new CachedAnswers({ pool, clock, content, mostBytes: config.answerCacheBytes });
  return createAnswerCache({ answers, content, storing, log });
}

/** What is written down of refused calls: for the status of keys, and for webhooks. */
function openRefusals({ pool, clock, log, closing }: Foundation) {
  const [keys, limits, exhausted] = [
    createKeyRefusals({ pool, clock, log }),
    new LimitRefusals({ pool, log }),
    new ExhaustedRuns({ pool, log }),
  ];
  closing.add('refusals', async () => {
    await Promise.all([keys.settled(), limits.settled(), exhausted.settled()]);
  });
  const note: InferenceDeps['onRefused'] = (refused, { grant, startedAt }) => {
    keys.note(refused, grant.principal, startedAt);
    limits.note(refused);
    exhausted.noteRefused(refused);
  };
  return { note, exhausted };
}

/** Providers that were set aside when the last gateway stopped are tried one call at a time. */
async function openCircuits({ pool, clock, log, closing }: Foundation) {
  const setAside = new SetAside({ pool, clock, log });
  closing.add('providers that are set aside', () => setAside.settled());
  const announced = announcedCircuits({
    ...{ pool, clock, log },
    onOpened: (opened) => setAside.began(opened),
    onClosed: (name) => setAside.ended(name),
  });
  for (const name of await setAside.names()) announced.circuits.openedElsewhere(name, 1, clock.now());
  return announced;
}

interface Hearing {
  readonly directory: RunDirectory;
  readonly circuits: ReturnType<typeof announcedCircuits>;
}

/** Invalidates the caches of this gateway when others change data; without a connection, the caches are not used. */
function listenForChanges(
  { foundation, catalog, accounts: { keyDirectory }, plans, capacity }: ServingDeps,
  { directory, circuits }: Hearing,
) {
  const { log, databaseUrl, pulse } = foundation;
  const heard: Readonly<Record<string, (payload: string) => void>> = {
    [KEYS_CHANNEL]: (payload) => keyDirectory.changed(payload),
    [RUNS_CHANNEL]: (payload) => directory.heard(payload),
    [CATALOG_CHANNEL]: () => catalog.changed(),
    [PLANS_CHANNEL]: () => plans.reload(),
    [CAPACITY_CHANNEL]: () => capacity.reload(),
    [CIRCUITS_CHANNEL]: (payload) => circuits.heard(payload),
  };
  return listen(databaseUrl, {
    channels: Object.keys(heard),
    onNotify: (channel, payload) => heard[channel]?.(payload),
    onConnected: () => {
      pulse.answers();
      plans.reload();
      capacity.reload();
      keyDirectory.listening();
      directory.listening();
      catalog.listening();
    },
    onLost: () => {
      keyDirectory.disconnected();
      directory.disconnected();
      catalog.disconnected();
    },
    onSilent: () => {
      if (pulse.isSilent) return;
      pulse.silent();
      if (pulse.isSilent) log.error('PostgreSQL does not answer: what needs it is refused until it does');
    },
    log,
  });
}

/** The providers of the configuration, and the models that they are asked for. */
async function openConfiguredProviders({ foundation, catalog }: ServingDeps) {
  const { config, log, clock, closing, pool } = foundation;
  for (const variable of config.ignoredAddresses)
    log.warn({ variable }, 'a variable holds this gateway’s own address, as clients need it: the provider is asked at its usual one');
  refuseIdle(config.providers, catalog);
  const providers = openProviders(config.providers);
  closing.add('providers', async () => {
    await Promise.all(providers.map(({ upstream }) => upstream.close()));
  });
  const discovery = new ModelDiscovery({ pool, catalog, providers, clock, log });
  await discovery.begin();
  if (providers.some(({ config: provider }) => isDiscovered(provider, catalog)))
    closing.every(DISCOVERY_MS, 'discovery of models', async () => {
      await discovery.discover();
    });
  return { providers, discovery };
}

/** What counts, beats, promises and settles beside the calls. */
function openCallTools({ foundation, ownKeys }: ServingDeps): Pick<InferenceDeps, CallTools> {
  const { clock, log, closing, metrics } = foundation;
  const tokenizer = createTokenizer();
  closing.add('tokenizer', () => tokenizer.close());
  const heartbeat = new Heartbeat();
  closing.add('heartbeat', async () => heartbeat.close());
  const nonces = startNonceThread();
  closing.add('thread for nonces', () => nonces.close());
  const promises = new ReceiptPromises({ key: promiseKeyOf(receiptKeyOf(ownKeys)), nonces, clock });
  const unsettled = new UnsettledCalls(log);
  closing.add('unsettled calls', async () => unsettled.close());
  metrics.watchUnsettled(() => unsettled.size);
  return { tokenizer, heartbeat, promises, unsettled };
}

type CallTools = 'tokenizer' | 'heartbeat' | 'promises' | 'unsettled';

/** Follows the catalogue: a model that is new there is served without a restart. */
function openDeployments(
  { foundation, catalog }: ServingDeps,
  deployments: Deployments,
  providers: ReturnType<typeof openProviders>,
): Deployments {
  const { clock, metrics } = foundation;
  catalog.follow((current, found) => deployments.replace(deploymentsOf(providers, current, found)));
  metrics.watchDeployments(() => deployments.views(clock.now()));
  return deployments;
}

function inferenceDeps(
  { foundation, catalog, billing: { lanes }, accounts: { spendingOf }, plans, problemReply }: ServingDeps,
  onRefused: InferenceDeps['onRefused'],
): Omit<InferenceDeps, 'deployments' | 'runs' | CallTools> {
  const { config, log, clock, closing, metrics } = foundation;
  const servedLog = withoutRedaction(log);
  const tracing = openTracing(config.tracing, { log, closing });
  return {
    ...{ catalog, plans: plans.book, clock, log, problemReply, spendingOf },
    lanes: measuredLanes(lanes, metrics),
    gatewayId: foundation.authority?.welcome.gatewayId ?? newGatewayId(),
    running: new RunningCalls({ readOnMs: config.disconnected.timeoutMs, mostLeftPerKey: config.disconnected.callsPerKey }),
    timeouts: config.timeouts,
    testRates: config.testRates,
    onRefused,
    traceparentFor: tracing?.traceparentFor,
    onServed: (call, served) => {
      const cost = costOfUsage({ call }, served.target, served.usage).nanoUsd;
      served.target.deployment.allowance?.used(served.usage.input_tokens + served.usage.output_tokens);
      metrics.served(call, served, cost);
      tracing?.settled({ call, served, cost, endedAt: clock.now() });
      servedLog.info(settledLine(call, served, cost), 'settled');
    },
  };
}

const settledLine = (call: Call, { target, outcome, usage, completedAt }: Served, cost: NanoUsd): object => ({
  requestId: call.requestId,
  accountId: call.grant.principal.accountId,
  keyId: keyIdOf(call.grant.principal),
  projectId: projectOf(call.grant) ?? null,
  model: target.model.id,
  provider: target.deployment.provider,
  outcome,
  inputTokens: usage.input_tokens,
  outputTokens: usage.output_tokens,
  costUsd: formatUsd(cost),
  ms: completedAt - call.startedAt,
});

function noncesOf({ dataDir, closing, authority }: Foundation): Nonces {
  if (authority) return { isFirst: (nonce, now) => authority.calls.call('isFirstNonce', nonce, now) };
  const journal = openNonceJournal(dataDir);
  closing.add('journal of nonces', async () => journal.close());
  return new NonceMemory(journal);
}
