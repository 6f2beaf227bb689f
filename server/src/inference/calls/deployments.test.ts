import { describe, expect, test } from 'vitest';
import type { UpstreamFault, UpstreamProvider } from '../../adapters/upstream/port.ts';
import { loadCatalog } from '../../money/catalog/index.ts';
import { invalidAnswer } from './attempts.ts';
import { chatWork } from './chat-work.ts';
import { type Deployment, Deployments, type Target } from './deployments.ts';
import { receivedJson } from './operation.ts';
import { preferenceOf } from './provider-preference.ts';
import type { Served } from './served.ts';
import { measureThroughput } from './throughput.ts';
import { NO_USAGE } from './usage.ts';

const [model] = loadCatalog().models;
if (!model) throw new Error('an empty catalogue');
const NOW = 1_000_000;
const CHAT = chatWork({ model: model.id, messages: [] }, receivedJson(Buffer.alloc(0)));

const provider = (): UpstreamProvider => ({ serves: () => true, call: async () => invalidAnswer('not called'), close: async () => {} });
const deployment = (name: string, weight = 1): Deployment => ({
  name,
  provider: name,
  upstream: provider(),
  upstreamModel: 'theirs',
  weight,
  countsLikeMaker: true,
  onCancel: 'keeps_billing',
});
const open = (deployments: readonly Deployment[], random?: () => number, sandbox = provider()) =>
  new Deployments(new Map([[model.id, deployments]]), sandbox, random);
const names = (deployments: Deployments, now = NOW) =>
  deployments.choose(model, CHAT, 'shared', now).targets.map((target) => target.deployment.name);
const target = (deployment: Deployment): Target => ({ model, deployment, dialect: CHAT.dialects[0] });
const wanting = (provider: object) => {
  const preference = preferenceOf({ provider });
  return preference && { preference };
};
/** A call that wrote so many tokens in a second. */
const servedBy = (one: Target, tokens: number): Served => ({
  ...{ target: one, attempts: [{} as never], attempt: 1, fallback: 'none', outcome: 'completed', estimated: false, responseSha256: '' },
  ...{ usage: { ...NO_USAGE, output_tokens: tokens * 10 }, firstByteAt: NOW, completedAt: NOW + 10_000, overheadMs: 0 },
});
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

test('the one deployment that a request without fallbacks may ask is one that serves it, and is up', () => {
  const deaf = { ...deployment('deaf'), upstream: { ...provider(), serves: () => false } };
  const deployments = open([deaf, deployment('up'), deployment('next')], () => 0.999_999);
  const asked = () => deployments.choose(model, { ...CHAT, ...wanting({ allow_fallbacks: false }) }, 'shared', NOW);
  const [first] = asked().targets;
  expect(asked().targets).toHaveLength(1);
  expect(first?.deployment.name).not.toBe('deaf');
  if (first) deployments.failed(first, fault('rate_limited', 60_000), NOW);
  const [second, ...others] = asked().targets;
  expect(['up', 'next']).toContain(second?.deployment.name);
  expect(second?.deployment.name).not.toBe(first?.deployment.name);
  expect(others).toEqual([]);
});

test('which dialect a deployment is asked in depends on the model that it serves', () => {
  const both = { ...provider(), readsGoogleFields: (name: string) => name.startsWith('gemini') };
  const [dialect] = CHAT.dialects;
  const googles = { ...dialect, suits: (_: unknown, { readsGoogleFields }: { readsGoogleFields: boolean }) => readsGoogleFields };
  const askedOf = (upstreamModel: string) =>
    open([{ ...deployment('vertex'), upstream: both, upstreamModel }]).choose(model, { dialects: [googles, dialect] }, 'shared', NOW);
  const asked = ['gemini-3-pro', 'claude-sonnet-4-5'].map((name) => askedOf(name).targets[0]?.dialect);
  expect(asked).toEqual([googles, dialect]);
});

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

test('the deployment that was measured to be faster is tried first where the request wants that', () => {
  const [slow, fast] = [deployment('slow', 1_000_000), deployment('fast')];
  const deployments = open([slow, fast], seeded(1));
  const sorted = (sort: 'latency' | 'throughput') =>
    deployments.choose(model, { ...CHAT, ...wanting({ sort }) }, 'shared', NOW).targets.map((one) => one.deployment.name);
  for (const [one, latencyMs, tokensPerSecond] of [
    [slow, 900, 10],
    [fast, 100, 90],
  ] as const) {
    deployments.answered(target(one), latencyMs, NOW);
    measureThroughput({ startedAt: NOW }, servedBy(target(one), tokensPerSecond), deployments);
  }
  expect(sorted('latency')).toEqual(['fast', 'slow']);
  expect(sorted('throughput')).toEqual(['fast', 'slow']);
  expect(names(deployments)).toEqual(['slow', 'fast']);
});

test('test keys reach the sandbox provider alone, and live keys never do', () => {
  const sandbox = provider();
  const deployments = open([deployment('a'), deployment('b')], seeded(1), sandbox);
  const test = deployments.choose(model, CHAT, 'test', NOW).targets;
  expect(test.map((target) => target.deployment.upstream)).toEqual([sandbox]);
  expect(deployments.choose(model, CHAT, 'shared', NOW).targets.some((target) => target.deployment.upstream === sandbox)).toBe(false);
  expect(open([]).choose(model, CHAT, 'shared', NOW).targets).toEqual([]);
  expect(open([]).choose(model, CHAT, 'test', NOW).targets).toHaveLength(1);
});

describe('a deployment that fails', () => {
  const sure = deployment('sure', 1_000);
  const other = deployment('other', 0.001);

  test('three times in a row is not asked for five seconds while another can be, and that is told', () => {
    const deployments = open([sure, other], seeded(3));
    for (const _ of [1, 2]) deployments.failed(target(sure), fault('failed'), NOW);
    expect(names(deployments)).toEqual(['sure', 'other']);
    deployments.failed(target(sure), fault('timeout'), NOW);
    expect(names(deployments, NOW + 4_999)).toEqual(['other']);
    expect(deployments.choose(model, CHAT, 'shared', NOW).skipped).toEqual([
      { model: model.id, deployment: 'sure', provider: 'sure', reason: 'cooling_down' },
    ]);
    expect(names(deployments, NOW + 5_000)).toEqual(['sure', 'other']);
  });

  test('and answers again starts from nothing', () => {
    const deployments = open([sure, other], seeded(3));
    for (const _ of [1, 2]) deployments.failed(target(sure), fault('failed'), NOW);
    deployments.answered(target(sure), 5, NOW);
    deployments.failed(target(sure), fault('failed'), NOW);
    expect(names(deployments)).toEqual(['sure', 'other']);
  });

  test.each([
    ['rate_limited', null, 1_000],
    ['rate_limited', 20_000, 20_000],
    ['rate_limited', 3_600_000, 300_000],
    ['failed', 7_000, 7_000],
  ] as const)('(%s) with Retry-After %s ms is not asked for %s ms', (kind, retryAfterMs, ms) => {
    const deployments = open([sure, other], seeded(3));
    deployments.failed(target(sure), fault(kind, retryAfterMs), NOW);
    expect(names(deployments, NOW + ms - 1)).toEqual(['other']);
    expect(names(deployments, NOW + ms)).toEqual(['sure', 'other']);
  });

  test('through the caller’s own doing is none', () => {
    const deployments = open([sure, other], seeded(3));
    for (const kind of ['rejected', 'cancelled', 'rejected', 'cancelled'] as const) deployments.failed(target(sure), fault(kind), NOW);
    expect(names(deployments)).toEqual(['sure', 'other']);
  });

  test('with all the others is asked all the same, if it is the first to come back, and the wait is its own', () => {
    const deployments = open([sure, other], seeded(3));
    deployments.failed(target(sure), fault('rate_limited', 9_000), NOW);
    deployments.failed(target(other), fault('rate_limited', 4_000), NOW);
    const { targets, skipped, isLastResort } = deployments.choose(model, CHAT, 'shared', NOW);
    expect([targets.map(({ deployment: { name } }) => name), skipped.map(({ deployment: name }) => name), isLastResort]).toEqual([
      ['other'],
      ['sure'],
      true,
    ]);
    expect(deployments.soonestMs([target(sure), target(other)], NOW + 1_000)).toBe(3_000);
    expect(deployments.soonestMs([target(sure), target(other)], NOW + 4_000)).toBeNull();
  });

  test('for one model goes on serving the others', () => {
    const [, second] = loadCatalog().models;
    if (!second) throw new Error('a catalogue of one');
    const both = new Deployments(
      new Map([
        [model.id, [sure, other]],
        [second.id, [sure, other]],
      ]),
      provider(),
      seeded(3),
    );
    both.failed(target(sure), fault('rate_limited', 9_000), NOW);
    expect(both.choose(second, CHAT, 'shared', NOW).targets).toHaveLength(2);
    expect(both.views(NOW).map(({ model: id, deployment: { name }, state }) => [id, name, state])).toEqual([
      [model.id, 'sure', 'open'],
      [model.id, 'other', 'closed'],
      [second.id, 'sure', 'closed'],
      [second.id, 'other', 'closed'],
    ]);
  });

  test('and is the sandbox is no news: people provoke its faults', () => {
    const sandbox = provider();
    const deployments = open([], seeded(1), sandbox);
    const [only] = deployments.choose(model, CHAT, 'test', NOW).targets;
    if (!only) throw new Error('no sandbox');
    for (let time = 0; time < 5; time += 1) deployments.failed(only, fault('rate_limited', 60_000), NOW);
    expect(deployments.choose(model, CHAT, 'test', NOW)).toMatchObject({ targets: [only], isLastResort: false });
  });
});

describe('a model that is asked for', () => {
  const variant = 'm-2026-01-01';
  const map = (): Deployments => {
    const deployments = open([]);
    deployments.replace({
      byModel: new Map([[model.id, [{ ...deployment('maker'), takesVariants: true }, deployment('renaming')]]]),
      byVariant: new Map([[variant, [{ ...deployment('dated'), upstreamModel: 'dated-name' }]]]),
      served: new Set([model.id]),
    });
    return deployments;
  };
  const asked = (by: { variant?: string; provider?: string }, livemode = true) =>
    map()
      .choose(model, CHAT, livemode ? 'shared' : 'test', NOW, { variant: null, provider: null, ...by })
      .targets.map(({ deployment: { name, upstreamModel } }) => `${name} ${upstreamModel}`)
      .sort();

  test.each([
    ['by its id is sought at all that serve it', {}, ['maker theirs', 'renaming theirs']],
    ['by a variant is sought under that name, where the provider knows it', { variant }, ['dated dated-name', `maker ${variant}`]],
    ['at one provider is sought there alone', { provider: 'renaming' }, ['renaming theirs']],
    ['by a variant at one provider is sought there alone', { variant, provider: 'dated' }, ['dated dated-name']],
  ])('%s', (_, by, expected) => {
    expect(asked(by)).toEqual(expected);
  });

  test('by a variant is that variant to the sandbox, too', () => {
    expect(asked({ variant }, false)).toEqual([`sandbox ${variant}`]);
  });
});
