import type { ErrorCode } from '@tallygate/contract';
import {
  type Aggregator,
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import type { Call, DeploymentView, Served } from '../inference/calls/index.ts';
import { type NanoUsd, usdForDisplay } from '../kernel/money.ts';
import type { Overbilled } from '../money/ledger/index.ts';
import type { AnchoringView, AuditProgress } from '../receipts/index.ts';
import { CallMetrics } from './call-metrics.ts';
import type { JobRun } from './jobs.ts';
import { summedText } from './plain-metrics.ts';
import { ProjectLabels } from './project-labels.ts';

/** What Prometheus reads. Labels name models, outcomes and some projects, never accounts or keys. */
export interface Metrics {
  /** @param cost at catalogue prices */
  served(call: Call, served: Served, cost: NanoUsd): void;
  /** @param excess what a provider bills beyond what was held */
  overbilled(by: Pick<Overbilled, 'model' | 'provider'>, excess: NanoUsd): void;
  /** A request that was refused, by the code of the problem. @param projectId of the key that asked, where it has one */
  refused(code: ErrorCode, projectId?: string): void;
  /** How long the lanes took. @param projectId of the key that asked, where it has one */
  laneTook(operation: 'hold' | 'settle', seconds: number, projectId?: string): void;
  jobRan(run: Pick<JobRun, 'job' | 'outcome'>): void;
  /** Settlements that the database refused, and lines of the journal that cannot be read. */
  quarantined(count: number): void;
  laneDifferences(count: number): void;
  /** Lanes that had less than the ledger and were raised to it. */
  lanesRaised(count: number): void;
  /** What is known of a chain after a look at it. */
  anchoring(view: AnchoringView): void;
  /** What is not as it was signed in the receipts' log, how many witnesses refuse what it says, and for how many reasons it is stopped. */
  logFaults(check: 'audit' | 'witness' | 'stopped' | 'unsealed', count: number): void;
  logAudit(progress: AuditProgress): void;
  /** Asked at every reading how the deployments are doing. */
  watchDeployments(views: () => readonly DeploymentView[]): void;
  /** Asked at every reading how many calls are over and could not be settled yet. */
  watchUnsettled(count: () => number): void;
  /** Asked at every reading what this gateway holds for running requests, and for which projects. */
  watchHeld(held: HeldByProject): void;
  /** Asked at every reading how many jobs of each kind wait for a run. */
  watchJobs(waiting: JobsWaiting): void;
  /** Asked at every reading how far the ledger and the log of receipts are behind. */
  watchLags(lags: Lags): void;
  /** The figures of this process, to be rendered with those of others. */
  collect(): Promise<ProcessMetrics>;
  /** The exposition text and its content type. @param others of the same gateway: what they count is added up */
  render(others?: readonly ProcessMetrics[]): Promise<{ contentType: string; body: string }>;
}

/** What one process of a gateway has counted. */
export interface ProcessMetrics {
  readonly registered: readonly MetricObjectWithValues<MetricValue<string>>[];
  /** Exposition text of counters and histograms. */
  readonly calls: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const projects = new ProjectLabels();
  const calls = new CallMetrics(projects);
  const collect = async (): Promise<ProcessMetrics> => ({ registered: await registry.getMetricsAsJSON(), calls: calls.text() });
  return {
    served: (call, served, cost) => calls.served(call, served, cost),
    laneTook: (operation, seconds, projectId) => calls.laneTook(operation, seconds, projectId),
    overbilled: overbilledMetrics(registers),
    refused: refusalMetrics(registers, projects),
    ...alarmMetrics(registers),
    anchoring: anchoringGauges(registers),
    watchDeployments: (views) => deploymentGauges(registers, views),
    watchUnsettled: (count) => unsettledGauge(registers, count),
    watchHeld: (held) => heldGauge(registers, projects, held),
    watchJobs: (waiting) => jobsGauge(registers, waiting),
    watchLags: (lags) => lagGauges(registers, lags),
    collect,
    render: async (others = []) => {
      if (others.length === 0) return { contentType: registry.contentType, body: `${await registry.metrics()}\n${calls.text()}` };
      const all = [await collect(), ...others];
      const registered = AggregatorRegistry.aggregate(all.map((one) => [...one.registered]));
      return { contentType: registry.contentType, body: `${await registered.metrics()}\n${summedText(all.map((one) => one.calls))}` };
    },
  };
}

/** What the operator pays, since no customer pays more than was held. */
function overbilledMetrics(registers: Registry[]): Metrics['overbilled'] {
  const excess = new Counter({
    name: 'tallygate_overbilled_usd_total',
    help: 'What providers bill beyond what was held, USD: the operator pays it, and a price or a bound that is wrong; a float, for graphs',
    labelNames: ['model', 'provider'],
    registers,
  });
  return ({ model, provider }, beyond) => excess.inc({ model, provider }, usdForDisplay(beyond));
}

/** What is refused. */
function refusalMetrics(registers: Registry[], projects: ProjectLabels): Metrics['refused'] {
  const refusals = new Counter({
    name: 'tallygate_refusals_total',
    help: 'Refused requests by the code of the problem, of all operations',
    labelNames: ['code', 'project'],
    registers,
  });
  return (code, projectId) => refusals.inc({ code, project: projects.of(projectId) });
}

/** Jobs, and what an operator is alarmed by. */
function alarmMetrics(
  registers: Registry[],
): Pick<Metrics, 'jobRan' | 'quarantined' | 'logFaults' | 'logAudit' | 'laneDifferences' | 'lanesRaised'> {
  const jobs = new Counter({
    name: 'tallygate_job_runs_total',
    help: 'Attempts at background jobs',
    labelNames: ['job', 'outcome'],
    registers,
  });
  const quarantine = new Counter({
    name: 'tallygate_settlements_quarantined_total',
    help: 'Settlements that the database refused, damaged lines of the journal and damaged entries in Redis, those of journal/quarantine.jsonl at the start included; each one needs a person',
    registers,
  });
  const differences = new Gauge({
    name: 'tallygate_lane_differences',
    help: 'Lanes that have more than the ledger; anything but 0 is an alarm',
    registers,
  });
  const raised = new Counter({
    name: 'tallygate_lanes_raised_total',
    help: 'Lanes that had less than the ledger and were raised to it; each is a fault that was mended',
    registers,
  });
  const logFaults = new Gauge({
    name: 'tallygate_log_faults',
    help: 'What is wrong with the log of receipts by its own audit, witnesses that refuse it, reasons for which it is stopped, and receipts that no gateway has sealed; anything but 0 is an alarm',
    labelNames: ['check'],
    registers,
  });
  const logAudit = new Gauge({
    name: 'tallygate_log_audit_entries',
    help: 'How far the audit of the log of receipts is: size is that of the log, checked up to where every entry has been checked, again how far the pass over all of it is. A growing difference of size and checked is an alarm',
    labelNames: ['part'],
    registers,
  });
  return {
    jobRan: ({ job, outcome }) => jobs.inc({ job, outcome }),
    quarantined: (count) => quarantine.inc(count),
    logFaults: (check, count) => logFaults.set({ check }, count),
    logAudit: (progress) => {
      for (const [part, entries] of Object.entries(progress)) logAudit.set({ part }, entries);
    },
    laneDifferences: (count) => differences.set(count),
    lanesRaised: (count) => raised.inc(count),
  };
}

const WEI_PER_COIN = 1e18;

/** Amounts are of the chain's coin, as floats: they are looked at, and never computed with. */
function anchoringGauges(registers: Registry[]): (view: AnchoringView) => void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['chain'], registers });
  const waiting = gauge('tallygate_anchor_waiting_receipts', 'Entries of the receipts’ log that are in no anchor on the chain yet');
  const balance = gauge('tallygate_anchor_balance', 'What the account that pays for anchors has, in the coin of the chain');
  const low = gauge('tallygate_anchor_balance_low', 'Whether that account is nearly empty; 1 is an alarm');
  const faults = gauge('tallygate_anchor_fault', 'Whether anchoring cannot go on; 1 for long is an alarm');
  const fees = gauge('tallygate_anchor_fees', 'Paid for the anchors on the chain, in its coin');
  return ({ chainId, waiting: entries, balanceWei, isBalanceLow, fault, feesWei }) => {
    const chain = `${chainId}`;
    waiting.set({ chain }, entries);
    if (balanceWei !== undefined) balance.set({ chain }, Number(balanceWei) / WEI_PER_COIN);
    low.set({ chain }, isBalanceLow ? 1 : 0);
    faults.set({ chain }, fault === null ? 0 : 1);
    fees.set({ chain }, Number(feesWei) / WEI_PER_COIN);
  };
}

const unsettledGauge = (registers: Registry[], count: () => number): void =>
  void new Gauge({
    name: 'tallygate_unsettled_calls',
    help: 'Calls that are over and could not be settled yet, since a store cannot be written; above 0 for long is an alarm',
    registers,
    collect() {
      this.set(count());
    },
  });

/** What is held, once for each request. */
type HeldByProject = () => Iterable<{ readonly projectId: string | undefined; readonly amount: NanoUsd }>;

function heldGauge(registers: Registry[], projects: ProjectLabels, held: HeldByProject): void {
  /** A project that holds nothing any more is 0, not absent: else its last amount would be shown for minutes. */
  const sums = new Map([[projects.of(undefined), 0n]]);
  new Gauge({
    name: 'tallygate_held_usd',
    help: 'Worst-case cost that this gateway holds for running requests, USD; what batches hold is not in it',
    labelNames: ['project'],
    registers,
    collect() {
      for (const project of sums.keys()) sums.set(project, 0n);
      for (const { projectId, amount } of held()) {
        const project = projects.of(projectId);
        sums.set(project, (sums.get(project) ?? 0n) + amount);
      }
      for (const [project, amount] of sums) this.set({ project }, usdForDisplay(amount));
    },
  });
}

/** By the name of the job. */
type JobsWaiting = () => Promise<readonly (readonly [job: string, count: number])[]>;

const jobsGauge = (registers: Registry[], waiting: JobsWaiting): void =>
  void new Gauge({
    name: 'tallygate_jobs_waiting',
    help: 'Background jobs that wait for a run, those that are tried again among them',
    labelNames: ['job'],
    registers,
    aggregator: 'max',
    async collect() {
      // As with receipts below.
      for (const [job, count] of await waiting().catch(() => [])) this.set({ job }, count);
    },
  });

interface Lags {
  /** For how long the ledger has taken nothing of what waits for it, milliseconds. */
  readonly ledgerMs: () => Promise<number>;
  readonly unloggedReceipts: () => Promise<number>;
}

function lagGauges(registers: Registry[], { ledgerMs, unloggedReceipts }: Lags): void {
  new Gauge({
    name: 'tallygate_ledger_lag_seconds',
    help: 'For how long the ledger has taken no settlement although some wait; above LEDGER_LAG_LIMIT_MS requests are refused',
    registers,
    async collect() {
      this.set((await ledgerMs()) / 1_000);
    },
  });
  new Gauge({
    name: 'tallygate_log_waiting_receipts',
    help: 'Receipts that the log has not taken in yet; thousands for minutes are an alarm',
    registers,
    async collect() {
      // A reading must not fail since the database does not answer; the other figures say why.
      const waiting = await unloggedReceipts().catch(() => undefined);
      if (waiting !== undefined) this.set(waiting);
    },
  });
}

const STATES = { closed: 0, half_open: 1, open: 2 };

function deploymentGauges(registers: Registry[], views: () => readonly DeploymentView[]): void {
  const labelNames = ['deployment', 'model'];
  const gauge = (name: string, help: string, measure: (view: DeploymentView) => number | null, aggregator: Aggregator = 'max') =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      aggregator,
      collect() {
        this.reset();
        for (const view of views()) {
          const value = measure(view);
          if (value !== null) this.set({ deployment: view.deployment.name, model: view.model }, value);
        }
      },
    });
  gauge('tallygate_deployment_state', 'Circuit of a deployment: 0 closed, 1 half open, 2 open', ({ state }) => STATES[state]);
  gauge('tallygate_deployment_recent_failures', 'Calls of the last minute that failed', ({ failures }) => failures, 'sum');
  gauge('tallygate_deployment_latency_seconds', 'Until the first byte, a moving average', ({ latencyMs }) =>
    latencyMs === null ? null : latencyMs / 1000,
  );
}
