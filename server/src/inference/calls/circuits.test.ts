import { expect, test } from 'vitest';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import { InProcessCircuits, MOST_REMEMBERED, type Opened } from './circuits.ts';

const NOW = 1_000_000;
const fault = (kind: UpstreamFault['kind'] = 'failed', { status = null, retryAfterMs = null }: Partial<UpstreamFault> = {}) => ({
  kind,
  status,
  retryAfterMs,
});
const opened = (circuits: InProcessCircuits, now = NOW) => {
  for (let time = 0; time < 3; time += 1) circuits.failed('a', fault(), now);
  return circuits;
};

test('opens for five seconds after three failures in a row, and then lets one call at a time try', () => {
  const circuits = opened(new InProcessCircuits());
  expect([circuits.state('a', NOW), circuits.claim('a', NOW + 4_999)]).toEqual(['open', false]);
  expect(circuits.state('a', NOW + 5_000)).toBe('half_open');
  expect([1, 2, 3].map(() => circuits.claim('a', NOW + 5_000))).toEqual([true, false, false]);
  circuits.answered('a', 10, NOW + 5_100);
  expect(circuits.state('a', NOW + 5_100)).toBe('closed');
  expect([1, 2, 3].map(() => circuits.claim('a', NOW + 5_100))).toEqual([true, true, true]);
});

test('opens again, for twice as long each time, when the one that tries fails', () => {
  const circuits = opened(new InProcessCircuits());
  let now = NOW + 5_000;
  for (const forMs of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    expect(circuits.claim('a', now)).toBe(true);
    expect(circuits.failed('a', fault(), now)).toMatchObject({ reason: 'failures', forMs });
    expect(circuits.state('a', now + forMs - 1)).toBe('open');
    now += forMs;
  }
});

test('stays as it is when the one that tries is refused for its own fault or goes away, and lets the next one try', () => {
  const circuits = opened(new InProcessCircuits());
  for (const kind of ['rejected', 'cancelled'] as const) {
    expect(circuits.claim('a', NOW + 5_000)).toBe(true);
    circuits.failed('a', fault(kind), NOW + 5_000);
    expect(circuits.state('a', NOW + 5_000)).toBe('half_open');
  }
});

test('lets the next one try when the one that tried was never heard of again', () => {
  const circuits = opened(new InProcessCircuits());
  expect(circuits.claim('a', NOW + 5_000)).toBe(true);
  expect(circuits.claim('a', NOW + 60_000)).toBe(false);
  expect(circuits.claim('a', NOW + 126_000)).toBe(true);
});

test('opens where half of at least ten calls failed within a minute, and not where as many did over an hour', () => {
  const alternating = (stepMs: number) => {
    const circuits = new InProcessCircuits();
    for (let call = 0; call < 12; call += 1) {
      if (call % 2) circuits.failed('a', fault(), NOW + call * stepMs);
      else circuits.answered('a', 10, NOW + call * stepMs);
    }
    return circuits.state('a', NOW + 11 * stepMs);
  };
  expect([alternating(1_000), alternating(300_000)]).toEqual(['open', 'closed']);
});

test('takes a refused key for longer than any other failure, at once', () => {
  const circuits = new InProcessCircuits();
  expect(circuits.failed('a', fault('failed', { status: 401 }), NOW)).toEqual({ name: 'a', reason: 'credentials', forMs: 60_000 });
  expect(circuits.claim('a', NOW + 60_000)).toBe(true);
  expect(circuits.failed('a', fault('failed', { status: 403 }), NOW + 60_000)).toMatchObject({ forMs: 120_000 });
});

test('waits as long as the provider asks, also with a 503, and at most five minutes', () => {
  const waits = (given: ReturnType<typeof fault>) => new InProcessCircuits().failed('a', given, NOW)?.forMs;
  expect(waits(fault('rate_limited', { status: 429, retryAfterMs: 20_000 }))).toBe(20_000);
  expect(waits(fault('failed', { status: 503, retryAfterMs: 7_000 }))).toBe(7_000);
  expect(waits(fault('rate_limited', { status: 429, retryAfterMs: 3_600_000 }))).toBe(300_000);
  expect(waits(fault('rate_limited', { status: 429 }))).toBe(1_000);
});

test('is not closed by an answer to what was asked before it opened', () => {
  const circuits = opened(new InProcessCircuits());
  circuits.answered('a', 10, NOW + 1);
  expect(circuits.state('a', NOW + 1)).toBe('open');
});

test('takes slowness for no failure', () => {
  const circuits = new InProcessCircuits();
  for (let call = 0; call < 50; call += 1) circuits.answered('a', 90_000, NOW);
  expect(circuits.view('a', NOW)).toMatchObject({ state: 'closed', latencyMs: 90_000, failures: 0 });
});

test('tells of every opening, and takes in those of others', () => {
  const heard: Opened[] = [];
  const circuits = opened(new InProcessCircuits((one) => heard.push(one)));
  expect(heard).toEqual([{ name: 'a', reason: 'failures', forMs: 5_000 }]);
  const other = new InProcessCircuits();
  for (const { name, forMs } of heard) other.openedElsewhere(name, forMs, NOW + 20);
  expect(other.state('a', NOW + 5_019)).toBe('open');
  expect(other.state('a', NOW + 5_020)).toBe('half_open');
  expect(circuits.state('b', NOW)).toBe('closed');
});

test('shows the calls and failures of the last minute, and the last failure', () => {
  const circuits = new InProcessCircuits();
  for (let call = 0; call < 2 * MOST_REMEMBERED; call += 1) circuits.answered('a', 100, NOW);
  circuits.failed('a', fault('timeout'), NOW + 1);
  expect(circuits.view('a', NOW + 1)).toMatchObject({
    calls: MOST_REMEMBERED,
    failures: 1,
    lastFailure: { at: NOW + 1, kind: 'timeout', status: null },
  });
  expect(circuits.view('a', NOW + 70_000)).toMatchObject({ calls: 0, failures: 0 });
});
