import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../../adapters/postgres/database.ts';
import { testDatabase } from '../../../adapters/postgres/test-database.ts';
import { silentLog } from '../../../kernel/log.ts';
import { askingLimits, guessingLimits, type Limit, networkOf } from './limits.ts';
import { createThrottle, type Throttle } from './throttle.ts';

let db: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
let throttle: Throttle;
let other: Throttle;
const clock = { at: Date.UTC(2026, 10, 21), now: () => clock.at };

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool({ url: db.url, log: silentLog(), poolSize: 10 });
  throttle = createThrottle({ pool, clock });
  other = createThrottle({ pool, clock });
});

afterAll(async () => {
  await pool?.end();
  await db?.drop();
});

/** Seconds to wait, or 0 when the attempt was let through. */
const waitOf = async (limits: readonly Limit[], through = throttle): Promise<number> =>
  through.admit(limits).then(
    () => 0,
    (problem) => problem.extras.retryAfterSeconds,
  );

let serial = 0;
const guess = (address: string, subject: string, isKnown = false) => guessingLimits({ kind: 'login', subject, address }, isKnown);
const somebody = () => `user-${++serial}@example.com`;
const somewhere = () => `203.0.113.${++serial % 250}`;

describe('a guesser', () => {
  test('has five tries, then pauses of 1, 2, 4 … seconds, never more than five minutes', async () => {
    const limits = guess(somewhere(), somebody());
    for (let attempt = 0; attempt < 5; attempt++) expect(await waitOf(limits)).toBe(0);
    const pauses: number[] = [];
    for (let round = 0; round < 11; round++) {
      const wait = await waitOf(limits);
      pauses.push(wait);
      clock.at += wait * 1000 - 1;
      expect(await waitOf(limits)).toBe(1);
      clock.at += 1;
      expect(await waitOf(limits)).toBe(0);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  test('gains nothing from asking all at once, nor from asking another instance', async () => {
    const limits = guess(somewhere(), somebody());
    const waits = await Promise.all(Array.from({ length: 20 }, (_none, n) => waitOf(limits, n % 2 ? other : throttle)));
    expect(waits.filter((wait) => wait === 0).length).toBe(5);
  });

  test('does not make the pause longer by asking during it', async () => {
    const limits = guess(somewhere(), somebody());
    for (let attempt = 0; attempt < 5; attempt++) await waitOf(limits);
    for (let attempt = 0; attempt < 10; attempt++) expect(await waitOf(limits)).toBe(1);
    clock.at += 1000;
    expect(await waitOf(limits)).toBe(0);
  });

  test('who was right is forgotten, and so is who was quiet for an hour', async () => {
    const limits = guess(somewhere(), somebody());
    for (let attempt = 0; attempt < 4; attempt++) await waitOf(limits);
    await (await throttle.admit(limits)).succeeded();
    clock.at += 1000;
    for (let attempt = 0; attempt < 5; attempt++) expect(await waitOf(limits)).toBe(0);
    clock.at += 3_600_001;
    for (let attempt = 0; attempt < 5; attempt++) expect(await waitOf(limits)).toBe(0);
  });

  test('is not counted where the attempt could not be looked at', async () => {
    const limits = guess(somewhere(), somebody());
    for (let attempt = 0; attempt < 20; attempt++) {
      const admitted = await throttle.admit(limits);
      await admitted.withdrawn();
      clock.at += 1000;
    }
    expect(await waitOf(limits)).toBe(0);
  });
});

describe('the owner', () => {
  test('does not wait for a stranger’s failures at an address of their own', async () => {
    const subject = somebody();
    const strangers = somewhere();
    for (let attempt = 0; attempt < 10; attempt++) await waitOf(guess(strangers, subject));
    expect(await waitOf(guess(strangers, subject))).toBeGreaterThan(0);
    expect(await waitOf(guess(somewhere(), subject))).toBe(0);
  });

  test('is guessed at fewer than 100 times in an hour, however many addresses the guessers have', async () => {
    const subject = somebody();
    const end = clock.at + 3_600_000;
    let tries = 0;
    // A guess from an address of its own as soon as any may come, and one of many who share one of the owner's addresses.
    for (let stranger = 0; clock.at < end; stranger++) {
      const waits = [
        await waitOf(guess(`2001:db8:${stranger.toString(16)}::1`, subject)),
        await waitOf(guess(`192.0.2.${stranger % 200}`, subject, true)),
      ];
      tries += waits.filter((wait) => wait === 0).length;
      if (!waits.includes(0)) clock.at += Math.min(...waits) * 1000;
    }
    expect(tries).toBeGreaterThan(20);
    expect(tries).toBeLessThan(100);
  });

  test('waits a minute and a half at most at a new address when a thousand strangers guess, and not at all at a known one', async () => {
    const subject = somebody();
    for (let stranger = 0; stranger < 60; stranger++) {
      const wait = await waitOf(guess(`198.51.100.${stranger}`, subject));
      clock.at += wait * 1000;
      if (wait > 0) await waitOf(guess(`198.51.100.${stranger}`, subject));
    }
    const wait = await waitOf(guess(somewhere(), subject));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(90);
    expect(await waitOf(guess(somewhere(), subject, true))).toBe(0);
  });

  test('can ask for a mail, also while strangers ask for many', async () => {
    const subject = somebody();
    const ask = (address: string) => askingLimits({ kind: 'reset-password', subject, address });
    const strangers = somewhere();
    for (let attempt = 0; attempt < 10; attempt++) await waitOf(ask(strangers));
    expect(await waitOf(ask(strangers))).toBeGreaterThan(0);
    expect(await waitOf(ask(somewhere()))).toBe(0);
  });
});

test('one address that goes through many accounts is slowed down too', async () => {
  const address = '192.0.2.1';
  const waits: number[] = [];
  for (let subject = 0; subject < 102; subject++) waits.push(await waitOf(guess(address, somebody())));
  expect(waits.slice(0, 100)).toEqual(Array(100).fill(0));
  expect(waits[100]).toBe(1);
});

test('what is forgotten is deleted', async () => {
  clock.at += 3_600_001;
  await throttle.sweep();
  expect((await pool.query('select 1 from throttles')).rowCount).toBe(0);
});

test.each([
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  [null, 'none'],
])('the network of %s is %s: IPv6 counts by its first half', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
