import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { drawOnQuota } from '../lane-arithmetic.ts';
import { LARGEST_UNITS } from '../port.ts';
import { OPEN } from './epoch-scripts.ts';
import { EXACT_INTEGERS, LARGEST_AMOUNT } from './exact-integers.lua.ts';
import { defineScript, type RedisConnection, runScript } from './run-script.ts';
import { onLanes } from './scripts.ts';
import { readAmounts } from './wire.ts';

let redis: RedisConnection;

const calculation = (body: string) => defineScript(`${EXACT_INTEGERS}${body}`);
const ADDITION = calculation(`
  local a, b = exact(ARGV[1]), exact(ARGV[2])
  return {text(add(a, b)), text(subtract(a, b)), text(negative(a)), at_most(a, b) and 1 or 0}`);
const SCALING = calculation('return text(scaled(exact(ARGV[1]), exact(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])))');
const SHARE = calculation('return text(pro_rata(exact(ARGV[1]), exact(ARGV[2]), exact(ARGV[3])))');
const DRAW = onLanes(`
  local left = ARGV[2] ~= '' and amounts(ARGV[2]) or nil
  local covered, charge = draw(cjson.decode(ARGV[1]), left, exact(ARGV[3]))
  return {texts(covered), text(charge)}`);
const EPOCH = 'test';

const edges = (most: bigint) => {
  const halves = [10n ** 12n, 10n ** 9n, 2n ** 53n, 10n ** 18n, 10n ** 4n, 10n ** 8n, most].flatMap((edge) => [edge - 1n, edge, edge + 1n]);
  return halves.filter((edge) => edge >= 0n && edge <= most);
};
/** As often at the edges of the halves and digits as anywhere. */
const upTo = (most: bigint) =>
  fc.oneof(fc.constantFrom(0n, 1n, ...edges(most)), fc.bigInt({ min: 0n, max: most }), fc.bigInt({ min: 0n, max: 100_000n }));
const signed = upTo(10n ** 24n - 1n).chain((amount) => fc.constantFrom(amount, -amount));
const MANY = { numRuns: 2_000 };

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

describe.skipIf(isRedisMissing())('integers in scripts', () => {
  beforeAll(async () => {
    redis = await testRedis();
    await run(OPEN, EPOCH);
  });

  afterAll(async () => {
    await redis?.quit();
  });

  const run = (script: Parameters<typeof runScript>[1], ...args: (bigint | string)[]) =>
    runScript(redis, script, 'test:{0}', args.map(String));

  test('are added, subtracted, negated and compared exactly, below 10^24 either way', async () => {
    await fc.assert(
      fc.asyncProperty(signed, signed, async (a, b) => {
        expect(await run(ADDITION, a, b)).toEqual([`${a + b}`, `${a - b}`, `${-a}`, a <= b ? 1 : 0]);
      }),
      MANY,
    );
  });

  test('are multiplied and divided exactly, rounded up once: a cost at any bound on tokens, and any share of an amount', async () => {
    const times = upTo(LARGEST_UNITS);
    await fc.assert(
      fc.asyncProperty(upTo(LARGEST_AMOUNT * 1000n), upTo(LARGEST_AMOUNT), times, upTo(LARGEST_UNITS), async (a, b, by, divisor) => {
        const whole = divisor === 0n ? 1n : divisor;
        const wanted = ceilDiv(a + b * by, whole);
        if (wanted >= 10n ** 24n) await expect(run(SCALING, a, b, by, whole)).rejects.toThrow('exceeds');
        else expect(await run(SCALING, a, b, by, whole)).toBe(`${wanted}`);
      }),
      MANY,
    );
  });

  test('are divided by amounts too: what a part has of a hold', async () => {
    await fc.assert(
      fc.asyncProperty(upTo(LARGEST_AMOUNT), upTo(LARGEST_AMOUNT), upTo(LARGEST_AMOUNT), async (amount, one, other) => {
        const [part, whole] = one < other ? [one, other] : [other, one + 1n];
        expect(await run(SHARE, amount, part, whole)).toBe(`${ceilDiv(amount * part, whole)}`);
      }),
      MANY,
    );
  });

  test('share a cost between quota and money as every store does, to the last nano-dollar', async () => {
    const meters = fc.dictionary(fc.constantFrom('requests', 'tokens', 'images'), upTo(LARGEST_UNITS), { noNullPrototype: true });
    const left = fc.option(fc.dictionary(fc.constantFrom('requests', 'tokens', 'images'), signed, { noNullPrototype: true }), {
      nil: null,
    });
    await fc.assert(
      fc.asyncProperty(meters, left, upTo(LARGEST_AMOUNT), async (use, there, cost) => {
        const wanted = drawOnQuota(use, there, cost);
        const units = JSON.stringify(Object.fromEntries(Object.entries(use).map(([meter, amount]) => [meter, Number(amount)])));
        const written = there && JSON.stringify(Object.fromEntries(Object.entries(there).map(([meter, amount]) => [meter, `${amount}`])));
        const [, [covered, charge]] = (await run(DRAW, '', EPOCH, '0', units, written ?? '', cost)) as [number, [string, string]];
        expect({ covered: readAmounts(covered), charge: BigInt(charge) }).toEqual(wanted);
      }),
      MANY,
    );
  });
});
