import type { UpstreamFault, UpstreamProvider } from '../adapters/upstream/port.ts';
import type { CatalogModel } from '../catalog/index.ts';
import type { Dialect, Work } from './work.ts';

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
  /** Share of the traffic among the deployments of a model, relative. */
  readonly weight: number;
}

/** One thing that may be tried. */
export interface Target {
  readonly model: CatalogModel;
  readonly deployment: Deployment;
  /** How the deployment is spoken to. */
  readonly dialect: Dialect;
}

const FAILURES_BEFORE_COOLDOWN = 3;
const COOLDOWN_MS = 5_000;
const RATE_LIMIT_COOLDOWN_MS = 1_000;
const LONGEST_COOLDOWN_MS = 60_000;

interface Health {
  failures: number;
  cooldownUntil: number;
}

/** Which deployments serve a model, and in which order to try them now: weighted at random, those that failed lately last. */
export class Deployments {
  readonly #byModel: ReadonlyMap<string, readonly Deployment[]>;
  readonly #sandbox: UpstreamProvider;
  readonly #health = new Map<string, Health>();
  readonly #random: () => number;

  constructor(byModel: ReadonlyMap<string, readonly Deployment[]>, sandbox: UpstreamProvider, random: () => number = Math.random) {
    this.#byModel = byModel;
    this.#sandbox = sandbox;
    this.#random = random;
  }

  /** Live keys reach the configured deployments; test keys reach the sandbox provider and nothing else. */
  targets(model: CatalogModel, { dialects }: Pick<Work, 'dialects'>, livemode: boolean, now: number): Target[] {
    return this.#inOrder(model, livemode, now).flatMap((deployment) => {
      const dialect = dialects.find(({ endpoint }) => deployment.upstream.serves(endpoint));
      return dialect ? [{ model, deployment, dialect }] : [];
    });
  }

  #inOrder(model: CatalogModel, livemode: boolean, now: number): Deployment[] {
    if (!livemode) {
      return [
        {
          name: 'sandbox',
          provider: 'sandbox',
          upstream: this.#sandbox,
          upstreamModel: model.id,
          countsLikeMaker: false,
          weight: 1,
        },
      ];
    }
    const deployments = this.#byModel.get(model.id) ?? [];
    const shuffled = deployments.length < 2 ? deployments : this.#weighted(deployments);
    const isCooling = ({ name }: Deployment) => (this.#health.get(name)?.cooldownUntil ?? 0) > now;
    return [...shuffled.filter((one) => !isCooling(one)), ...shuffled.filter(isCooling)];
  }

  answered({ name }: Deployment): void {
    this.#health.delete(name);
  }

  failed({ name }: Deployment, fault: UpstreamFault, now: number): void {
    if (fault.kind === 'rejected' || fault.kind === 'cancelled') return;
    const health = this.#health.get(name) ?? { failures: 0, cooldownUntil: 0 };
    health.failures += 1;
    if (fault.kind === 'rate_limited')
      health.cooldownUntil = now + Math.min(fault.retryAfterMs ?? RATE_LIMIT_COOLDOWN_MS, LONGEST_COOLDOWN_MS);
    else if (health.failures >= FAILURES_BEFORE_COOLDOWN)
      health.cooldownUntil = now + Math.min(fault.retryAfterMs ?? COOLDOWN_MS, LONGEST_COOLDOWN_MS);
    this.#health.set(name, health);
  }

  /**
   * Efraimidis–Spirakis: sorting by random^(1/weight) draws without replacement in proportion to the weights. By its logarithm, since small
   * weights would make every power zero.
   */
  #weighted(deployments: readonly Deployment[]): Deployment[] {
    return deployments
      .map((deployment) => ({ deployment, rank: Math.log(this.#random()) / deployment.weight }))
      .sort((a, b) => b.rank - a.rank)
      .map(({ deployment }) => deployment);
  }
}
