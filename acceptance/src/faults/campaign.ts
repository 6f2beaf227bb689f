import { largest } from '../money.ts';
import type { Draws } from '../random.ts';
import { areApart, areMargin, FAULTS, type Fault, fakeClockLibrary, isDiskGone, missingFor } from './faults.ts';
import { isClean } from './findings.ts';
import { playRound, type RoundKind, type RoundResult } from './round.ts';
import { isOverRedis, Service, type Topology } from './service.ts';

/** A round that is to be played. */
interface Planned {
  readonly topology: Topology;
  readonly faults: readonly [Fault, ...Fault[]];
  readonly kind: RoundKind;
  readonly seed: number;
}

export interface CampaignOptions {
  readonly rounds: number;
  /** Everything that is drawn follows from it. */
  readonly draws: Draws;
  /** Names of faults; empty: all. */
  readonly only: readonly string[];
  /** Empty: all. */
  readonly kinds: readonly RoundKind[];
  /** Where; empty: everywhere. */
  readonly topologies: readonly string[];
  /** The seed of one round that is played in all rounds: with all of these faults, in that order, where and of the kind that is named first. */
  readonly again?: number | undefined;
  /** So many services are played on at the same time; what is drawn is the same. */
  readonly atOnce: number;
  /** Empty where there is none: then the rounds over Redis are left out. */
  readonly redisProgram: string;
  readonly say: (line: string) => void;
}

/** A row of the table. */
export interface Tally {
  readonly fault: string;
  rounds: number;
  answers: number;
  /** Nano-USD, the most of a round. */
  overspent: bigint;
  lost: number;
  /** Nano-USD, the most of a round. */
  left: bigint;
  /** Ledgers that do not agree, and rounds that did not end. */
  broken: number;
}

/** How often rounds are of a kind. What cannot be is `short`. */
const KINDS: readonly { readonly kind: RoundKind; readonly share: number }[] = [
  { kind: 'at once', share: 0.3 },
  { kind: 'long', share: 0.15 },
  { kind: 'short', share: 0.55 },
];
const SECOND_FAULT = 0.25;

/** Plays the rounds, those of a topology one after the other on one service, which mostly wait. @returns a row per fault, and why others were left out */
export async function runCampaign(options: CampaignOptions): Promise<{ tallies: readonly Tally[]; leftOut: readonly string[] }> {
  const { only, redisProgram, say } = options;
  const chosen = FAULTS.filter(({ name }) => only.length === 0 || only.includes(name));
  const leftOut = chosen.flatMap((fault) => {
    const missing = missingFor(fault);
    return missing === undefined ? [] : [`${fault.name}: ${missing}`];
  });
  if (redisProgram === '') leftOut.push('everything over Redis: there is no redis-server');
  const plan = options.again === undefined ? planned(chosen, options) : repeated(options.again, options);
  const tallies = new Map<string, Tally>();
  const services = [...Map.groupBy(plan, ({ topology, faults }) => `${topology}${faults[0].needsClock ? ' clock' : ''}`).values()];
  const playInTurn = async () => {
    for (let rounds = services.shift(); rounds; rounds = services.shift())
      await playOn(rounds, { redisProgram, say, tally: (name) => tallyOf(tallies, name) });
  };
  await Promise.all(Array.from({ length: options.atOnce }, playInTurn));
  return { tallies: [...tallies.values()], leftOut };
}

function repeated(seed: number, { rounds, only, topologies, kinds: [kind = 'short'] }: CampaignOptions): Planned[] {
  const [first, ...others] = only.flatMap((name) => FAULTS.filter((fault) => fault.name === name));
  const topology = first?.in.find((one) => one === topologies[0]);
  if (!first || !topology) throw new Error('--again takes the faults of the round with --only, and with --in where they struck');
  return Array.from({ length: rounds }, () => ({ topology, faults: [first, ...others], kind, seed }));
}

function planned(chosen: readonly Fault[], { rounds, draws, redisProgram, topologies, kinds }: CampaignOptions): Planned[] {
  const possible = chosen
    .filter((fault) => missingFor(fault) === undefined)
    .flatMap((fault) => fault.in.map((topology) => ({ fault, topology })))
    .filter(({ topology }) => !isOverRedis(topology) || redisProgram !== '')
    .filter(({ topology }) => topologies.length === 0 || topologies.includes(topology));
  if (possible.length === 0) return [];
  // Each in turn, so that 300 rounds have every one; which ones a short campaign has is drawn.
  const shift = draws.between(0, possible.length - 1);
  return Array.from({ length: rounds }, (_, index) => {
    const { fault, topology } = possible[(shift + index) % possible.length] ?? draws.oneOf(possible);
    const others = FAULTS.filter(
      (other) => other.in.includes(topology) && !other.needsClock && missingFor(other) === undefined && !areMargin(fault, other),
    );
    const kind = kindOf(fault, kinds, draws);
    const beside = kind === 'at once' ? others.filter((other) => other.breaks.length > 0 && areApart(fault, other)) : others;
    const second = kind === 'at once' || (kind === 'short' && draws.happens(SECOND_FAULT)) ? [draws.oneOf(beside)] : [];
    return { topology, faults: [fault, ...second], kind, seed: draws.between(1, 1_000_000_000) };
  });
}

function kindOf(fault: Fault, kinds: readonly RoundKind[], draws: Draws): RoundKind {
  const possible = KINDS.filter(({ kind }) => (kinds.length === 0 || kinds.includes(kind)) && (kind !== 'long' || fault.lasts));
  let at = (draws.between(1, 1_000) / 1_000) * possible.reduce((sum, { share }) => sum + share, 0);
  for (const { kind, share } of possible) {
    at -= share;
    if (at <= 0) return kind;
  }
  return 'short';
}

interface Playing {
  readonly redisProgram: string;
  readonly say: (line: string) => void;
  readonly tally: (fault: string) => Tally;
}

async function playOn(rounds: readonly Planned[], { redisProgram, say, tally }: Playing): Promise<void> {
  let service: Service | undefined;
  for (const { topology, faults, kind, seed } of rounds) {
    const name = `${topology} ${faults.map((fault) => fault.name).join('+')} (${kind}, seed ${seed})`;
    const fakeClock = faults[0].needsClock ? fakeClockLibrary() : undefined;
    try {
      service ??= await Service.start({ topology, redisProgram, ownPostgres: true, ...(fakeClock !== undefined && { fakeClock }) });
      const startedAt = performance.now();
      const result = await playRound(service, faults, seed, kind);
      for (const fault of new Set(result.faults)) count(tally(fault), result);
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      say(`${isClean(result.findings) ? 'ok  ' : 'FAIL'} ${name}, ${seconds} s: ${told(result)}`);
      if (isClean(result.findings) && !faults.some(isDiskGone)) continue;
      if (isClean(result.findings)) {
        await service.stop();
        service = undefined;
        continue;
      }
    } catch (error) {
      for (const fault of new Set(faults)) tally(fault.name).broken += 1;
      say(`FAIL ${name}: ${error instanceof Error ? error.message : error}`);
    }
    if (service) say(`       what the gateways wrote: ${service.keepOutput()}`);
    // What is broken stays broken: it must not be found again in the rounds that follow.
    await service?.stop();
    service = undefined;
  }
  const found = await service?.reconcile();
  const [last] = rounds.slice(-1);
  if (found !== undefined && last) {
    tally(last.faults[0].name).broken += 1;
    say(`FAIL ${last.topology}: the reconciler finds something\n${found}`);
  }
  await service?.stop();
}

function told({ calls, findings: { overspent, lost, left, disagreements } }: RoundResult): string {
  const count = (status: number) => calls.filter((call) => call.status === status).length;
  const cut = calls.filter(({ status }) => status === undefined).length;
  const summary = `${count(200)} answered, ${count(402) + count(429)} over a cap, ${count(503)} unavailable, ${cut} without an answer`;
  const found = [
    ...(overspent > 0n ? [`overspent by ${overspent} nano-USD`] : []),
    ...(left > 0n ? [`${left} nano-USD are still held`] : []),
    ...some(lost),
    ...some(disagreements),
  ];
  return [summary, ...found].join('\n       ');
}

const some = (list: readonly string[]): string[] => (list.length > 3 ? [...list.slice(0, 3), `… and ${list.length - 3} more`] : [...list]);

function tallyOf(tallies: Map<string, Tally>, fault: string): Tally {
  const tally = tallies.get(fault) ?? { fault, rounds: 0, answers: 0, overspent: 0n, lost: 0, left: 0n, broken: 0 };
  tallies.set(fault, tally);
  return tally;
}

function count(tally: Tally, { calls, findings }: RoundResult): void {
  tally.rounds += 1;
  tally.answers += calls.filter(({ status }) => status === 200).length;
  tally.overspent = largest([tally.overspent, findings.overspent]);
  tally.lost += findings.lost.length;
  tally.left = largest([tally.left, findings.left]);
  tally.broken += findings.disagreements.length;
}

/** The table of a campaign, as text. */
export function tableOf(tallies: readonly Tally[]): string {
  const head = ['fault', 'rounds', 'answers', 'overspent', 'lost', 'left', 'broken'];
  const rows = tallies.map((tally) =>
    [tally.fault, tally.rounds, tally.answers, tally.overspent, tally.lost, tally.left, tally.broken].map(String),
  );
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
  return [head, ...rows].map(line).join('\n');
}
