import { describe, expect, test } from 'vitest';
import type { UpstreamFault, UpstreamProvider } from '../adapters/upstream/port.ts';
import { loadCatalog } from '../catalog/index.ts';
import { invalidAnswer } from './attempts.ts';
import { chatWork } from './chat-work.ts';
import { type Deployment, Deployments } from './deployments.ts';

const [model] = loadCatalog().models;
if (!model) throw new Error('an empty catalogue');
const NOW = 1_000_000;
const CHAT = chatWork({ model: model.id, messages: [] }, Buffer.alloc(0));

const provider = (): UpstreamProvider => ({ serves: () => true, call: async () => invalidAnswer('not called'), close: async () => {} });
const deployment = (name: string, weight = 1): Deployment => ({
  name,
  provider: name,
  upstream: provider(),
  upstreamModel: 'theirs',
  weight,
  countsLikeMaker: true,
});
const open = (deployments: readonly Deployment[], random?: () => number, sandbox = provider()) =>
  new Deployments(new Map([[model.id, deployments]]), sandbox, random);
const names = (deployments: Deployments, now = NOW) => deployments.targets(model, CHAT, true, now).map((target) => target.deployment.name);
const fault = (kind: UpstreamFault['kind'], retryAfterMs: number | null = null): UpstreamFault => ({
  ...invalidAnswer('x', kind),
  retryAfterMs,
});

/** Mulberry32: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test.each([
  [1, 1],
  [3, 1],
  [0.003, 0.001],
  [0.000_3, 0.000_1],
  [300_000, 100_000],
])('deployments of weight %d and %d are tried first in that proportion', (heavy, light) => {
  // The light one stands first, so that whatever does not draw at all is noticed.
  const deployments = open([deployment('light', light), deployment('heavy', heavy)], seeded(7));
  const draws = 20_000;
  let first = 0;
  for (let draw = 0; draw < draws; draw += 1) if (names(deployments)[0] === 'heavy') first += 1;
  expect(Math.abs(first / draws - heavy / (heavy + light))).toBeLessThan(0.015);
});

test('test keys reach the sandbox provider alone, and live keys never do', () => {
  const sandbox = provider();
  const deployments = open([deployment('a'), deployment('b')], seeded(1), sandbox);
  const test = deployments.targets(model, CHAT, false, NOW);
  expect(test.map((target) => target.deployment.upstream)).toEqual([sandbox]);
  expect(deployments.targets(model, CHAT, true, NOW).some((target) => target.deployment.upstream === sandbox)).toBe(false);
  expect(open([]).targets(model, CHAT, true, NOW)).toEqual([]);
  expect(open([]).targets(model, CHAT, false, NOW)).toHaveLength(1);
});

describe('a deployment that fails', () => {
  const sure = deployment('sure', 1_000);
  const other = deployment('other', 0.001);

  test('three times is tried last for five seconds, and not struck out', () => {
    const deployments = open([sure, other], seeded(3));
    for (const _ of [1, 2]) deployments.failed(sure, fault('failed'), NOW);
    expect(names(deployments)).toEqual(['sure', 'other']);
    deployments.failed(sure, fault('timeout'), NOW);
    expect(names(deployments, NOW + 4_999)).toEqual(['other', 'sure']);
    expect(names(deployments, NOW + 5_000)).toEqual(['sure', 'other']);
  });

  test('and answers again starts from nothing', () => {
    const deployments = open([sure, other], seeded(3));
    for (const _ of [1, 2]) deployments.failed(sure, fault('failed'), NOW);
    deployments.answered(sure);
    deployments.failed(sure, fault('failed'), NOW);
    expect(names(deployments)).toEqual(['sure', 'other']);
  });

  test.each([
    [null, 1_000],
    [20_000, 20_000],
    [3_600_000, 60_000],
  ])('at its rate limit (Retry-After %s ms) is last for %s ms', (retryAfterMs, ms) => {
    const deployments = open([sure, other], seeded(3));
    deployments.failed(sure, fault('rate_limited', retryAfterMs), NOW);
    expect(names(deployments, NOW + ms - 1)).toEqual(['other', 'sure']);
    expect(names(deployments, NOW + ms)).toEqual(['sure', 'other']);
  });

  test('through the caller’s own doing is none', () => {
    const deployments = open([sure, other], seeded(3));
    for (const kind of ['rejected', 'cancelled', 'rejected', 'cancelled'] as const) deployments.failed(sure, fault(kind), NOW);
    expect(names(deployments)).toEqual(['sure', 'other']);
  });
});
