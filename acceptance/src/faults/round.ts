import { setTimeout as pause } from 'node:timers/promises';
import { Account } from '../account.ts';
import { usd } from '../money.ts';
import { Draws } from '../random.ts';
import { type Call, type Caller, Load, scriptProvider } from './callers.ts';
import type { Fault } from './faults.ts';
import { type Cap, type Findings, isClean, look } from './findings.ts';
import { passTime } from './redis.ts';
import { ACCOUNT_CAP, PLAN, type Service } from './service.ts';

export interface RoundResult {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly calls: readonly Call[];
  readonly findings: Findings;
}

/**
 * `short`: one fault after the other, each for a moment. `long`: for longer than a lease of a hold, and than a session of a gateway, lasts.
 * `at once`: all of them in the same moment.
 */
export type RoundKind = 'short' | 'long' | 'at once';

const FOR_MS: Readonly<Record<RoundKind, readonly [least: number, most: number]>> = {
  short: [200, 3_000],
  'at once': [200, 3_000],
  long: [32_000, 45_000],
};
/** Pending settlements must be in the ledger by then. */
const QUIET_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 250;
/** After it a hold in doubt is settled. */
const DOUBT_MS = 660_000;
const CALLERS = 18;

/** Callers of a new account spend all that it may while the faults strike; then it waits until all is quiet, and looks. */
export async function playRound(service: Service, faults: readonly Fault[], seed: number, kind: RoundKind = 'short'): Promise<RoundResult> {
  const draws = new Draws(seed);
  const round = `round-${seed}`;
  service.breakNext();
  service.upstream.reset();
  service.ways.provider.brokenPorts.clear();
  scriptProvider(service.upstream, draws);
  const { accountId, caps, callers } = await onceServed(() => openAccount(service, round, draws));
  const load = new Load(round, service.gateways, callers, draws);
  await load.decided();
  await pause(draws.between(100, 600));
  // Each draws by itself: what strikes at once draws in no order.
  const strikes = faults.map((fault, index) => () => fault.strike(service, new Draws(seed + index), draws.between(...FOR_MS[kind])));
  if (kind === 'at once') await Promise.all(strikes.map((strike) => strike()));
  else for (const strike of strikes) await strike();
  await pause(draws.between(100, 600));
  await service.heal();
  await load.decided();
  await pause(draws.between(100, 400));
  await load.stop();
  const { calls } = load;
  const leavesDoubt = faults.some((fault) => fault.leavesDoubt);
  const findings = await whenQuiet(
    () => look({ service, accountId, calls, caps }),
    async () => {
      if (leavesDoubt && service.redis) await passTime(service.redis, DOUBT_MS);
    },
  );
  return { seed, faults: faults.map(({ name }) => name), calls, findings };
}

/** A busy machine may refuse for a moment before anything is broken. */
async function onceServed<T>(work: () => Promise<T>): Promise<T> {
  for (const lateTick = performance.now() + QUIET_WITHIN_MS; ; await pause(LOOK_EVERY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > lateTick || !String(error).includes('store_unavailable')) throw error;
    }
  }
}

/** Looks until nothing is found, or for so long that what is found will not go away. @throws when it cannot be looked at by then */
async function whenQuiet(once: () => Promise<Findings>, meanwhile: () => Promise<void>): Promise<Findings> {
  for (const lateTick = performance.now() + QUIET_WITHIN_MS; ; ) {
    const isLate = performance.now() > lateTick;
    // A store that has just come back may still refuse.
    const findings = await once().catch((error: unknown) => {
      if (isLate) throw error;
    });
    if (findings && (isLate || isClean(findings))) return findings;
    await pause(LOOK_EVERY_MS);
    if (findings && findings.left > 0n) await meanwhile();
  }
}

/** An account with three caps that bind each other: a run within a key with a cap, and another key beside it. */
async function openAccount(service: Service, round: string, draws: Draws) {
  const account = await Account.signUp(service.broken, { plan: PLAN });
  const [keyCap, runCap] = [BigInt(draws.between(300, 3_000)) * 1_000n, BigInt(draws.between(200, 1_500)) * 1_000n];
  const capped = await account.createKey({ monthly_cap_usd: usd(keyCap) });
  const open = await account.createKey();
  const inRun: Caller = { key: capped.key, headers: { 'x-agent-run-id': round, 'x-agent-max-budget': usd(runCap) } };
  const [onKey, beside]: Caller[] = [capped, open].map(({ key }) => ({ key, headers: {} }));
  if (!onKey || !beside) throw new Error('There are two keys');
  const caps: Cap[] = [
    { name: 'run', amount: runCap, caller: inRun, counts: ({ runId }) => runId === round },
    { name: 'key', amount: keyCap, caller: onKey, counts: ({ keyId }) => keyId === capped.key_id },
    { name: 'account', amount: ACCOUNT_CAP, caller: beside, counts: () => true },
  ];
  const callers = Array.from({ length: CALLERS }, (_, index) => [inRun, onKey, beside][index % 3] ?? beside);
  return { accountId: account.accountId, caps, callers };
}
