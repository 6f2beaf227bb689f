import { listen } from '../adapters/postgres/listener.ts';
import { createSandboxProvider } from '../adapters/upstream/sandbox/index.ts';
import { createKeyRefusals } from '../budgets/index.ts';
import type { Catalog } from '../catalog/index.ts';
import {
  createSignatureCheck,
  createTokenizer,
  Deployments,
  Heartbeat,
  type InferenceDeps,
  type SignatureCheck,
} from '../inference/index.ts';
import { withoutRedaction } from '../kernel/log.ts';
import { KEYS_CHANNEL } from '../keys/index.ts';
import { createRunStore, RUNS_CHANNEL, RunDirectory, RunQueries } from '../runs/index.ts';
import type { Accounts } from './accounts.ts';
import { announcedCircuits, CIRCUITS_CHANNEL } from './announced-circuits.ts';
import type { Books } from './books.ts';
import type { Foundation } from './foundation.ts';
import { toProblemDocument } from './http/problem-document.ts';
import { openProviders } from './providers.ts';

export interface Serving {
  readonly inference: InferenceDeps;
  readonly checkSignature: SignatureCheck;
  readonly runs: { readonly directory: RunDirectory; readonly store: ReturnType<typeof createRunStore>; readonly queries: RunQueries };
}

interface ServingDeps {
  readonly foundation: Foundation;
  readonly catalog: Catalog;
  readonly books: Books;
  readonly accounts: Accounts;
  readonly publicUrl: () => string;
}

/** What a call needs on its way to a provider and back, and what hears of changes made by other gateways. */
export function openServing({ foundation, catalog, books: { lanes }, accounts: { keyDirectory }, publicUrl }: ServingDeps): Serving {
  const { config, log, clock, closing, redis, databaseUrl, pool, metrics } = foundation;
  const keyRefusals = createKeyRefusals({ pool, clock, log });
  closing.add('refusals of keys', () => keyRefusals.settled());
  const circuits = announcedCircuits({ pool, clock, log });
  const store = createRunStore(pool);
  const directory = new RunDirectory({ store, clock, log });
  const listener = listen(databaseUrl, {
    channels: [KEYS_CHANNEL, RUNS_CHANNEL, CIRCUITS_CHANNEL],
    onNotify: (channel, payload) => {
      if (channel === KEYS_CHANNEL) keyDirectory.changed(payload);
      else if (channel === RUNS_CHANNEL) directory.heard(payload);
      else circuits.heard(payload);
    },
    onConnected: () => {
      keyDirectory.listening();
      directory.listening();
    },
    onLost: () => {
      keyDirectory.deaf();
      directory.deaf();
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

  const deployments = new Deployments(providers.byModel, sandbox, Math.random, circuits.circuits);
  metrics.watchDeployments(() => deployments.views(clock.now()));
  const servedLog = withoutRedaction(log);
  const inference: InferenceDeps = {
    catalog,
    deployments,
    lanes,
    tokenizer,
    clock,
    log,
    heartbeat,
    runs: directory,
    timeouts: config.timeouts,
    problemReply: (problem, { requestId, clientRequestId }) => {
      const { status, headers, body } = toProblemDocument(problem, {
        requestId: clientRequestId ?? requestId,
        publicUrl: publicUrl(),
      });
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
  const checkSignature = createSignatureCheck({ clock, publicUrl, ...(redis && { nonces: redis.nonces }) });
  return { inference, checkSignature, runs: { directory, store, queries: new RunQueries(pool) } };
}
