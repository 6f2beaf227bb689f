import { expect, test } from 'vitest';
import { type Counters, comesToCap, standingOf } from './standing.ts';

const counters = (over: Partial<Counters>): Counters => ({
  cap: 1000n,
  spent: 0n,
  held: 0n,
  refusedUnder: null,
  alertThresholds: [50, 80, 100],
  ...over,
});

test.each<[string, Partial<Counters>, ReturnType<typeof standingOf>]>([
  ['has no shares without a cap', { cap: null, spent: 5n }, { status: 'uncapped', remaining: null, utilization: null }],
  ['is fine below the first threshold', { spent: 499n }, { status: 'ok', remaining: 501n, utilization: 0.499 }],
  ['warns at the first threshold exactly', { spent: 500n }, { status: 'warning', remaining: 500n, utilization: 0.5 }],
  ['never rounds up to a threshold', { cap: 1_000_000n, spent: 499_999n }, { status: 'ok', remaining: 500_001n, utilization: 0.4999 }],
  ['is exceeded when the cap is spent', { spent: 1000n }, { status: 'exceeded', remaining: 0n, utilization: 1 }],
  ['owes nothing when more is spent', { spent: 1500n, held: 5n }, { status: 'exceeded', remaining: 0n, utilization: 1.5 }],
  ['keeps held money apart from spent', { spent: 400n, held: 600n }, { status: 'ok', remaining: 0n, utilization: 0.4 }],
  ['is exceeded once a refusal came to this cap', { refusedUnder: 1000n }, { status: 'exceeded', remaining: 1000n, utilization: 0 }],
  ['forgets a refusal that came to a lower cap', { refusedUnder: 999n }, { status: 'ok', remaining: 1000n, utilization: 0 }],
  ['warns of nothing without thresholds', { spent: 999n, alertThresholds: [] }, { status: 'ok', remaining: 1n, utilization: 0.999 }],
  ['lets nothing through at a cap of zero', { cap: 0n }, { status: 'exceeded', remaining: 0n, utilization: 1 }],
])('a key %s', (_what, over, standing) => expect(standingOf(counters(over))).toEqual(standing));

test.each([
  [899n, 1000n, false],
  [900n, 1000n, true],
  [0n, 0n, true],
])('a refusal with %d of %d spent comes to the cap: %s', (spent, cap, comes) => expect(comesToCap(spent, cap)).toBe(comes));
