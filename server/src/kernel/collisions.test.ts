import { expect, test } from 'vitest';
import { isCollision, repeatCollisions } from './collisions.ts';

const failure = (code: string): Error => Object.assign(new Error(`failed with ${code}`), { code });

/** Fails with these codes, one after the other, and then succeeds; what was waited between the tries, milliseconds. */
async function run(codes: readonly string[], random = () => 0.5) {
  const pauses: number[] = [];
  const left = [...codes];
  const work = async () => {
    const code = left.shift();
    if (code !== undefined) throw failure(code);
    return 'done';
  };
  const outcome = await repeatCollisions(work, { random, pause: async (ms) => void pauses.push(ms) }).catch(
    (error: Error) => error.message,
  );
  return { outcome, pauses };
}

test('what was ended for the sake of another transaction runs again, after pauses that grow', async () => {
  expect(await run(['40P01', '40001', '40P01'])).toEqual({ outcome: 'done', pauses: [5, 10, 20] });
});

test('the pauses differ by chance, so that the same two do not meet again', async () => {
  expect((await run(['40P01'], () => 0)).pauses).toEqual([2.5]);
  expect((await run(['40P01'], () => 0.99)).pauses).toEqual([5 * 1.49]);
});

test('after eight tries the collision is thrown', async () => {
  const { outcome, pauses } = await run(Array.from({ length: 20 }, () => '40P01'));
  expect([outcome, pauses.length]).toEqual(['failed with 40P01', 7]);
});

test.each(['23505', '57014', 'ECONNRESET', '08006'])(
  'any other failure (%s) is thrown at once: nobody knows what it has done',
  async (code) => {
    expect(await run([code])).toEqual({ outcome: `failed with ${code}`, pauses: [] });
  },
);

test('only errors are collisions', () => {
  expect([failure('40P01'), { code: '40P01' }, '40P01', undefined, new Error('40P01')].map(isCollision)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
