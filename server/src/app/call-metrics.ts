import { type Call, isLive, projectOf, type Served } from '../inference/calls/index.ts';
import { type NanoUsd, usdForDisplay } from '../kernel/money.ts';
import { counterText, Distribution, histogramText } from './plain-metrics.ts';
import type { ProjectLabels } from './project-labels.ts';

const OVERHEAD_SECONDS = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.5, 2];
const DURATION_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const LANE_SECONDS = [0.00005, 0.0002, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 2];
const MILLIS = 1_000;
const LANE_OPERATIONS = ['hold', 'settle'] as const;

type LaneOperation = (typeof LANE_OPERATIONS)[number];

/** Calls that differ in none of these are counted together. */
interface CallLabels {
  readonly endpoint: string;
  readonly model: string;
  readonly provider: string;
  readonly outcome: string;
  readonly livemode: string;
  readonly project: string;
}

interface Sums {
  readonly labels: CallLabels;
  requests: number;
  tokensIn: number;
  tokensOut: number;
  usd: number;
}

/** How many requests were settled, and how long they and their lanes took. */
export class CallMetrics {
  readonly #projects: ProjectLabels;
  readonly #sums = new Map<string, Sums>();
  readonly #durations = new Map<string, Distribution>();
  readonly #overhead = new Distribution(OVERHEAD_SECONDS);
  /** By the label of the project. */
  readonly #lanes = new Map<string, Readonly<Record<LaneOperation, Distribution>>>();

  constructor(projects: ProjectLabels) {
    this.#projects = projects;
  }

  served({ grant, work, startedAt }: Call, { target, outcome, usage, completedAt, overheadMs }: Served, cost: NanoUsd): void {
    const model = target.model.id;
    const livemode = String(isLive(grant.principal));
    const project = this.#projects.of(projectOf(grant));
    const sums = this.#sumsOf({ endpoint: work.endpoint, model, provider: target.deployment.provider, outcome, livemode, project });
    sums.requests += 1;
    sums.tokensIn += usage.input_tokens;
    sums.tokensOut += usage.output_tokens;
    sums.usd += usdForDisplay(cost);
    this.#overhead.observe(overheadMs / MILLIS);
    this.#durationsOf(model).observe((completedAt - startedAt) / MILLIS);
  }

  laneTook(operation: LaneOperation, seconds: number, projectId: string | undefined): void {
    this.#lanesOf(this.#projects.of(projectId))[operation].observe(seconds);
  }

  /** As Prometheus reads it. */
  text(): string {
    const all = [...this.#sums.values()];
    return [
      counterText(
        { name: 'tallygate_requests_total', help: 'Settled inference requests' },
        all.map(({ labels, requests }) => [{ ...labels }, requests]),
      ),
      counterText(
        { name: 'tallygate_tokens_total', help: 'Tokens of settled requests' },
        all.flatMap(({ labels: { model, livemode, project }, tokensIn, tokensOut }) => [
          [{ model, direction: 'in', livemode, project }, tokensIn] as const,
          [{ model, direction: 'out', livemode, project }, tokensOut] as const,
        ]),
      ),
      histogramText({ name: 'tallygate_overhead_seconds', help: 'Time in the gateway until the first byte, without the provider’s' }, [
        [{}, this.#overhead],
      ]),
      histogramText(
        { name: 'tallygate_request_duration_seconds', help: 'From arrival to settlement' },
        [...this.#durations].map(([model, duration]) => [{ model }, duration]),
      ),
      counterText(
        {
          name: 'tallygate_cost_usd_total',
          help: 'Cost of settled requests at catalogue prices, USD; a float, for graphs: the ledger has the exact sums',
        },
        all.map(({ labels: { model, livemode, project }, usd }) => [{ model, livemode, project }, usd]),
      ),
      histogramText(
        { name: 'tallygate_lane_seconds', help: 'How long the lanes took to hold or to settle; with Redis that is a round trip' },
        [...this.#lanes].flatMap(([project, took]) =>
          LANE_OPERATIONS.map((operation) => [{ operation, project }, took[operation]] as const),
        ),
      ),
    ].join('\n');
  }

  #sumsOf(labels: CallLabels): Sums {
    const name = `${labels.endpoint} ${labels.model} ${labels.provider} ${labels.outcome} ${labels.livemode} ${labels.project}`;
    const known = this.#sums.get(name);
    if (known) return known;
    const fresh: Sums = { labels, requests: 0, tokensIn: 0, tokensOut: 0, usd: 0 };
    this.#sums.set(name, fresh);
    return fresh;
  }

  #lanesOf(project: string): Readonly<Record<LaneOperation, Distribution>> {
    const known = this.#lanes.get(project);
    if (known) return known;
    const fresh = { hold: new Distribution(LANE_SECONDS), settle: new Distribution(LANE_SECONDS) };
    this.#lanes.set(project, fresh);
    return fresh;
  }

  #durationsOf(model: string): Distribution {
    const known = this.#durations.get(model);
    if (known) return known;
    const fresh = new Distribution(DURATION_SECONDS);
    this.#durations.set(model, fresh);
    return fresh;
  }
}
