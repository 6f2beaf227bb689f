import { type DiscoveryReport, MAX_MODEL_TOKENS } from '@tallygate/contract';
import type { Pool } from 'pg';
import { UpstreamCut, type UpstreamFault } from '../adapters/upstream/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import {
  type FoundModel,
  foundModels,
  type LiveCatalog,
  listedAt,
  meantAt,
  priceCommand,
  writeFound,
  writeListed,
} from '../money/catalog/index.ts';
import { isDiscovered, isWanted, listedByForm, listedNames, type OpenProvider } from './providers.ts';

/** A provider of one's own that is up answers at once, and one that is not must not keep the gateway from starting. */
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MOST_NAMED = 20;

const NO_NAMES = 'a provider has models whose names no model here can have: they are left out';
const NO_LENGTHS = `a provider states lengths of models that cannot be (above ${MAX_MODEL_TOKENS} tokens, or answers longer than the context): they are taken to be unknown`;
const NOT_IN_TIME = `it did not list its models within ${TIMEOUT_MS / 1_000} s`;
const SILENT: ReadonlySet<UpstreamCut['reason']> = new Set(['aborted', 'idle_timeout']);

function reasonOf({ kind, status, message }: UpstreamFault): string {
  if (kind === 'timeout' || kind === 'cancelled') return NOT_IN_TIME;
  return status === null ? message : `it answered GET /models with HTTP status ${status}: ${message}`;
}

/** What cannot be seen in a line of the log, by its code point. */
const escaped = (name: string): string => name.replace(/[\p{C}\p{Z}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

interface ModelDiscoveryDeps {
  readonly pool: Pool;
  readonly catalog: LiveCatalog;
  readonly providers: readonly OpenProvider[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The models that a provider lists, or why it could not be asked. */
type Outcome = { readonly models: readonly FoundModel[] } | { readonly error: string };

type Report = DiscoveryReport['providers'][number];

/** Asks the providers which models they serve, and writes it down for all gateways. */
export class ModelDiscovery {
  readonly #deps: ModelDiscoveryDeps;
  /** The last message about a provider: the same one is not repeated in a row. */
  readonly #said = new Map<string, string>();
  readonly #saidOfNames = new Map<string, string>();

  constructor(deps: ModelDiscoveryDeps) {
    this.#deps = deps;
  }

  /** What is listed for providers and not in the catalogue gets into it, too, to be given a price. */
  async begin(): Promise<void> {
    const { pool, catalog, providers } = this.#deps;
    for (const { config } of providers) {
      const unknown = listedNames(config).flatMap(([name]) => (listedAt(catalog, config.name, name) ? [] : [name]));
      if (unknown.length > 0) await writeListed(pool, catalog, config.name, unknown);
    }
    await this.discover();
  }

  async discover(): Promise<DiscoveryReport> {
    const { pool, catalog, providers } = this.#deps;
    const asked = await Promise.all(
      providers
        .filter(({ config }) => isDiscovered(config, catalog))
        .map(async (provider) => [provider, await this.#ask(provider)] as const),
    );
    // One after the other, in the order of the configuration: of two that serve a name, the first has it without a prefix.
    for (const [{ config }, outcome] of asked) {
      if ('error' in outcome) continue;
      await catalog.refresh();
      // What a list with a * names already is served as that, and needs no entry under the provider's name.
      const models = outcome.models.filter(({ name }) => isWanted(config, name) && !listedByForm(config, catalog, name));
      await writeFound(pool, catalog, { provider: config.name, baseUrl: config.baseUrl, models });
    }
    await catalog.refresh();
    const reports = asked.map(([provider, outcome]) => this.#reportOf(provider, outcome));
    for (const report of reports) this.#say(report);
    return { providers: reports };
  }

  async #ask({ config, upstream }: OpenProvider): Promise<Outcome> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await upstream.read?.({
      method: 'GET',
      path: '/models',
      firstByteTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      signal,
    });
    if (!answer) return { error: 'a provider of this kind cannot be asked' };
    if (!answer.ok) return { error: reasonOf(answer) };
    try {
      const found = foundModels(JSON.parse((await answer.collect(MAX_BYTES)).toString('utf8')));
      this.#sayOf(config.name, NO_NAMES, found.leftOut);
      this.#sayOf(config.name, NO_LENGTHS, found.implausible);
      return found;
    } catch (error) {
      if (error instanceof UpstreamCut && SILENT.has(error.reason)) return { error: NOT_IN_TIME };
      this.#deps.log.debug({ err: error, provider: config.name }, 'the answer of a provider to GET /models');
      return { error: 'its answer to GET /models is no list of models' };
    }
  }

  #reportOf({ config }: OpenProvider, outcome: Outcome): Report {
    const { catalog, clock } = this.#deps;
    if ('error' in outcome) return { provider: config.name, found: [], without_price: [], error: outcome.error };
    const models = outcome.models
      .filter(({ name }) => isWanted(config, name))
      .flatMap(({ name }) => listedByForm(config, catalog, name) ?? meantAt(catalog, config.name, name)?.model ?? []);
    const unpriced = models.filter((model) => !model.priceAt(clock.now()));
    const ids = (of: typeof models) => [...new Set(of.map(({ id }) => id))].sort();
    return { provider: config.name, found: ids(models), without_price: ids(unpriced), error: null };
  }

  #sayOf(provider: string, what: string, names: readonly string[]): void {
    const said = names.join(' ');
    const key = `${provider}: ${what}`;
    if (names.length > 0 && this.#saidOfNames.get(key) !== said)
      this.#deps.log.warn({ provider, names: names.slice(0, MOST_NAMED).map(escaped) }, what);
    this.#saidOfNames.set(key, said);
  }

  #say({ provider, found, without_price: unpriced, error }: Report): void {
    const { log, catalog } = this.#deps;
    const said = error ?? unpriced.join(' ');
    if (this.#said.get(provider) === said) return;
    this.#said.set(provider, said);
    if (error !== null)
      log.warn({ provider, because: error }, 'a provider could not be asked for its models; what it served last still counts');
    const [first] = unpriced;
    const model = first === undefined ? undefined : catalog.find(first);
    if (model)
      log.warn(
        { provider, models: unpriced, command: priceCommand(model) },
        'models have no price, and are not served until they have one',
      );
    else if (error === null) log.info({ provider, models: found.length }, 'a provider told its models');
  }
}
