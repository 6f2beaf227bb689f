import type { UpstreamAllowance, UpstreamFault, UpstreamProvider } from '../../adapters/upstream/port.ts';
import type { CatalogModel, Resolved } from '../../money/catalog/index.ts';
import { type CircuitState, type Circuits, type CircuitView, InProcessCircuits, type Opened } from './circuits.ts';
import type { Dialect, Placed, ProviderTraits } from './dialect.ts';
import { preferred, withoutFallbacks } from './provider-preference.ts';

export type OnCancel = 'stops_billing' | 'keeps_billing';

/** A model as one provider serves it. */
export interface Deployment {
  /** Unique among all deployments. */
  readonly name: string;
  readonly provider: string;
  readonly upstream: UpstreamProvider;
  /** The provider's own name for the model. */
  readonly upstreamModel: string;
  /** Whether it counts tokens as the model's maker publishes it. Only then does counting the prompt bound what it bills. */
  readonly countsLikeMaker: boolean;
  /** Whether it bills on when its call is cancelled, until the answer would have ended. */
  readonly onCancel: OnCancel;
  /** Share of the traffic among the deployments of a model, relative. */
  readonly weight: number;
  /** Whether it knows the model's dated names and other variants too, and is sent the one that was asked for. */
  readonly takesVariants?: boolean;
  /** What is left of the limits that are set for its provider's key; absent where none are. */
  readonly allowance?: UpstreamAllowance;
  /** Kept free for dedicated traffic, which it serves before any other. */
  readonly isReserved?: boolean;
}

/** `test`: of test keys. `dedicated`: by contract, on an address of its own. */
export type Traffic = 'test' | 'shared' | 'dedicated';

/** Which deployments there are. */
export interface DeploymentMap {
  /** By the catalogue's model id. */
  readonly byModel: ReadonlyMap<string, readonly Deployment[]>;
  /** Of those that serve a variant of a model alone, by the variant's name. */
  readonly byVariant: ReadonlyMap<string, readonly Deployment[]>;
  /** The ids of all models that are served under any name. */
  readonly served: ReadonlySet<string>;
}

/** How a model was asked for. */
type Asked = Pick<Resolved, 'variant' | 'provider'>;
const BY_ITS_ID: Asked = { variant: null, provider: null };

/** One thing that may be tried. */
export interface Target {
  readonly model: CatalogModel;
  readonly deployment: Deployment;
  /** How the deployment is spoken to. */
  readonly dialect: Dialect;
  /** The service tier that the answer names; absent where it names none. */
  readonly serviceTier?: string;
}

/** Who answered; of an answer that was kept, who did then. */
export interface ServedBy {
  readonly model: CatalogModel;
  readonly deployment: Pick<Deployment, 'name' | 'provider'> & Partial<Pick<Deployment, 'upstream' | 'allowance'>>;
  /** The service tier that the answer names; absent where it names none. */
  readonly serviceTier?: string;
}

/** What was left aside for a request, and why. */
export interface Skipped {
  readonly model: string;
  /** Null where it is the model that could not serve. */
  readonly deployment: string | null;
  readonly provider: string | null;
  /** `cooling_down`: it failed or was at its limit lately. `probing`: another request is finding out whether it is back.
   * `too_dear`: it costs more than the request's `provider.max_price`. */
  readonly reason: 'cooling_down' | 'probing' | 'incapable' | 'not_deployed' | 'too_dear';
}

/** What of a model may be tried now, in order. */
export interface Choice {
  readonly targets: readonly Target[];
  readonly skipped: readonly Skipped[];
  /** All of the model's deployments are open, and the target is the one that opens up soonest. */
  readonly isLastResort: boolean;
}

/** A deployment as operators see it. */
export interface DeploymentView extends CircuitView {
  readonly model: string;
  readonly deployment: Deployment;
}

/** Which deployments serve a model, and in which order to try them now: weighted at random, without those whose circuit is open. */
export class Deployments {
  #map: DeploymentMap = { byModel: new Map(), byVariant: new Map(), served: new Set() };
  #providers: ReadonlySet<string> = new Set();
  readonly #sandbox: UpstreamProvider;
  readonly #random: () => number;
  readonly #circuits: Circuits;

  constructor(
    byModel: DeploymentMap['byModel'],
    sandbox: UpstreamProvider,
    random: () => number = Math.random,
    circuits: Circuits = new InProcessCircuits(),
  ) {
    this.#sandbox = sandbox;
    this.#random = random;
    this.#circuits = circuits;
    this.replace({ byModel, byVariant: new Map(), served: new Set(byModel.keys()) });
  }

  /** Calls under way keep theirs; what is known of a deployment's health stays with its name. */
  replace(map: DeploymentMap): void {
    this.#map = map;
    const all = [...map.byModel.values(), ...map.byVariant.values()].flat();
    this.#providers = new Set(all.map(({ provider }) => provider));
  }

  /** Whether any deployment is of that provider. */
  hasProvider(name: string): boolean {
    return this.#providers.has(name);
  }

  /** Whether a live key reaches a deployment of the model, under its id or one of its variants. */
  serves({ id }: Pick<CatalogModel, 'id'>): boolean {
    return this.#map.served.has(id);
  }

  /** Live keys reach the configured deployments, those that are reserved by dedicated traffic alone; test keys reach the sandbox provider. */
  choose(model: CatalogModel, placed: Placed, traffic: Traffic, now: number, asked: Asked = BY_ITS_ID): Choice {
    const { dialects, deployment: only, preference, serviceTier } = placed;
    const able: Target[] = [];
    for (const deployment of this.#wanted(this.#inOrder(model, traffic, asked), model, placed, now)) {
      if (only !== undefined && deployment.name !== only) continue;
      if (serviceTier !== undefined && !deployment.upstream.takesServiceTiers) continue;
      const dialect = dialects.find(
        (one) => deployment.upstream.serves(one.endpoint, deployment.upstreamModel) && (one.suits?.(model, traitsOf(deployment)) ?? true),
      );
      if (dialect) able.push({ model, deployment, dialect });
    }
    const isOpen = (target: Target) => this.#stateOf(target, now) === 'open';
    if (!able.some(isOpen)) return { targets: withoutFallbacks(able, preference), skipped: [], isLastResort: false };
    const targets = able.filter((target) => !isOpen(target));
    const skipped = able.filter(isOpen).map(coolingDown);
    if (targets.length > 0) return { targets: withoutFallbacks(targets, preference), skipped, isLastResort: false };
    // Nobody is refused without a try: a provider may be back sooner than it said.
    const [soonest, ...others] = able.toSorted((a, b) => this.#openUntil(a, now) - this.#openUntil(b, now));
    return { targets: soonest ? [soonest] : [], skipped: others.map(coolingDown), isLastResort: true };
  }

  /** Test keys reach the sandbox, whatever they prefer. */
  #wanted(all: readonly Deployment[], { id }: CatalogModel, { preference }: Placed, now: number): readonly Deployment[] {
    if (!preference || all.some(({ upstream }) => upstream === this.#sandbox)) return all;
    return preferred(all, preference, ({ name }) => this.#circuits.view(nameOf(name, id), now));
  }

  #inOrder(model: CatalogModel, traffic: Traffic, asked: Asked = BY_ITS_ID): readonly Deployment[] {
    if (traffic === 'test') return [this.#sandboxFor(model, asked)];
    const all = this.#askedFor(model, asked);
    if (!all.some(({ isReserved }) => isReserved)) return this.#weighted(all);
    const shared = this.#weighted(all.filter(({ isReserved }) => !isReserved));
    return traffic === 'shared' ? shared : [...this.#weighted(all.filter(({ isReserved }) => isReserved)), ...shared];
  }

  #askedFor({ id }: CatalogModel, { variant, provider }: Asked): readonly Deployment[] {
    const ofModel = this.#map.byModel.get(id) ?? [];
    if (variant === null && provider === null) return ofModel;
    const named = variant === null ? ofModel : [...(this.#map.byVariant.get(variant) ?? []), ...ofModel.flatMap(as(variant))];
    return provider === null ? named : named.filter((deployment) => deployment.provider === provider);
  }

  #sandboxFor = (model: CatalogModel, { variant }: Asked): Deployment => ({
    name: 'sandbox',
    provider: 'sandbox',
    upstream: this.#sandbox,
    upstreamModel: variant ?? model.id,
    countsLikeMaker: false,
    // It lives in this process, and generates nothing that nobody reads.
    onCancel: 'stops_billing',
    weight: 1,
  });

  /** Where a job is that was begun there; undefined where it is not configured any more. */
  serving(model: CatalogModel, name: string, livemode: boolean): Deployment | undefined {
    return this.#inOrder(model, livemode ? 'dedicated' : 'test').find((one) => one.name === name);
  }

  /** Whether it failed lately, so that it should be left alone for a while. */
  isOpen(target: Target, now: number): boolean {
    return this.#stateOf(target, now) === 'open';
  }

  /** Whether it may be called: of a deployment that is trying to come back, only by one call at a time. Report what came of it. */
  claim(target: Target, now: number): boolean {
    return !this.#isTracked(target) || this.#circuits.claim(circuitOf(target), now);
  }

  /** @param latencyMs until the first byte */
  answered(target: Target, latencyMs: number, now: number): void {
    if (this.#isTracked(target)) this.#circuits.answered(circuitOf(target), latencyMs, now);
  }

  /** @param tokensPerSecond that it wrote, from the request to the end of its answer */
  measured(target: ServedBy, tokensPerSecond: number): void {
    if (this.#isTracked(target)) this.#circuits.measured(circuitOf(target), tokensPerSecond);
  }

  /** Says so where that opens its circuit. */
  failed(target: Target, fault: Pick<UpstreamFault, 'kind' | 'status' | 'retryAfterMs'>, now: number): Opened | undefined {
    return this.#isTracked(target) ? this.#circuits.failed(circuitOf(target), fault, now) : undefined;
  }

  /** Until the first of these may be asked again, milliseconds; null where one may be asked now. */
  soonestMs(targets: readonly Target[], now: number): number | null {
    if (targets.some((target) => this.#stateOf(target, now) !== 'open')) return null;
    const soonest = Math.min(...targets.map((target) => this.#openUntil(target, now)));
    return Number.isFinite(soonest) ? soonest - now : null;
  }

  /** The one of these that may be asked again first, of those that are left aside; and in how many milliseconds. */
  nextFree(targets: readonly Target[], now: number): { readonly target: Target; readonly inMs: number } | undefined {
    const aside = targets
      .filter((target) => this.isOpen(target, now))
      .map((target) => ({ target, inMs: this.#openUntil(target, now) - now }));
    return aside.sort((a, b) => a.inMs - b.inMs)[0];
  }

  /** Every configured deployment of every model. */
  views(now: number): DeploymentView[] {
    return [...this.#map.byModel].flatMap(([model, deployments]) =>
      deployments.map((deployment) => ({ model, deployment, ...this.#circuits.view(nameOf(deployment.name, model), now) })),
    );
  }

  /** People provoke the sandbox's faults: they are no news of it. */
  #isTracked({ deployment: { upstream } }: ServedBy): boolean {
    return upstream !== undefined && upstream !== this.#sandbox;
  }

  #stateOf(target: Target, now: number): CircuitState {
    if (target.deployment.allowance && target.deployment.allowance.freeInMs() > 0) return 'open';
    return this.#isTracked(target) ? this.#circuits.state(circuitOf(target), now) : 'closed';
  }

  #openUntil(target: Target, now: number): number {
    const inMs = target.deployment.allowance?.freeInMs() ?? 0;
    return Math.max(this.#circuits.view(circuitOf(target), now).openUntil ?? now, now + inMs);
  }

  /**
   * Efraimidis–Spirakis: sorting by random^(1/weight) draws without replacement in proportion to the weights. By its logarithm, since small
   * weights would make every power zero.
   */
  #weighted(deployments: readonly Deployment[]): readonly Deployment[] {
    if (deployments.length < 2) return deployments;
    return deployments
      .map((deployment) => ({ deployment, rank: Math.log(this.#random()) / deployment.weight }))
      .sort((a, b) => b.rank - a.rank)
      .map(({ deployment }) => deployment);
  }
}

const traitsOf = ({ upstream, upstreamModel }: Deployment): ProviderTraits => ({
  readsGoogleFields: upstream.readsGoogleFields?.(upstreamModel) ?? false,
});

/** The deployment as it serves a variant of its model. */
const as =
  (variant: string) =>
  (deployment: Deployment): Deployment[] =>
    deployment.takesVariants ? [{ ...deployment, upstreamModel: variant }] : [];

/** Providers limit each model by itself, and one may fail while the others are well. */
const nameOf = (deployment: string, model: string): string => `${deployment} ${model}`;
const circuitOf = ({ deployment, model }: ServedBy): string => nameOf(deployment.name, model.id);

export const skippedOf = ({ model, deployment }: Target, reason: Skipped['reason']): Skipped => ({
  model: model.id,
  deployment: deployment.name,
  provider: deployment.provider,
  reason,
});

export const coolingDown = (target: Target): Skipped => skippedOf(target, 'cooling_down');
