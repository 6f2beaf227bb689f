import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isRedisMissing, testRedis } from '../../redis/test-redis.ts';
import { holdRequest, keyLane, NOW, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import { counters, held } from '../conformance-store.ts';
import type { HoldRequest } from '../port.ts';
import { ScratchJournals } from '../testing/scratch-journals.ts';
import { partitionKey, partitionOf } from './partitions.ts';
import { RedisLanes } from './redis-lanes.ts';
import { CANCEL } from './release-scripts.ts';
import type { RedisConnection } from './run-script.ts';
import { RENEW } from './scripts.ts';

const journals = new ScratchJournals();
const KEY = keyLane('k', 100n);
let redis: RedisConnection;

beforeAll(async () => {
  if (!isRedisMissing()) redis = await testRedis();
});
afterAll(async () => {
  journals.remove();
  await redis?.quit();
});

/** Another process looks at what others have left. */
const isMine = async () => false;

function open(prefix = `test:${randomUUID()}`, clock = { at: NOW }, sweeps?: { everyMs: number; isMine: () => Promise<boolean> }) {
  const own = journals.process(redis, prefix);
  const deps = { redis, prefix, source: new ScriptedSource(), ...own, onAppend: () => {}, now: () => clock.at };
  const store = new RedisLanes({ ...deps, ...(sweeps && { sweeps }) });
  return { store, prefix, clock, journal: own.journal };
}

/** A request that is held with what settles it. */
function carrying(amount: bigint): Required<Pick<HoldRequest, 'inFlight'>> & HoldRequest {
  const request = holdRequest({ amount, lanes: [KEY] });
  return { ...request, inFlight: settlementOf(request, amount) };
}

/** An account of another partition. */
function accountElsewhere(accountId: string): string {
  for (;;) {
    const other = randomUUID();
    if (partitionOf(other) !== partitionOf(accountId)) return other;
  }
}

describe.skipIf(isRedisMissing())('a hold that carries what settles it', () => {
  test('costs one round trip, its settlement another, and what lies between none', async () => {
    const { store } = open();
    // Lanes and scripts are loaded.
    await held(store, holdRequest({ lanes: [KEY] }));
    const sent = vi.spyOn(redis, 'evalsha');
    const request = carrying(60n);
    await held(store, request);
    await store.begin(request.inFlight);
    expect(sent).toHaveBeenCalledTimes(1);
    await store.settle(settlementOf(request, 7n));
    expect(sent).toHaveBeenCalledTimes(2);
    sent.mockRestore();
    expect(await counters(store, KEY)).toMatchObject({ spent: 7n, held: 0n });
  });

  test('is settled at that once its process is dead for long, by another', async () => {
    const { store, prefix, clock } = open();
    await held(store, carrying(60n));
    const other = open(prefix, clock).store;
    clock.at += 60_000;
    await other.sweep();
    expect(await counters(other, KEY)).toMatchObject({ spent: 0n, held: 60n });
    clock.at += 700_000;
    await other.sweep();
    expect(await counters(other, KEY)).toMatchObject({ spent: 60n, held: 0n });
  });

  test('is free at once where it is released before anybody was asked', async () => {
    const { store, journal } = open();
    const request = carrying(60n);
    await held(store, request);
    await store.release(request.holdId);
    await expect(store.begin(request.inFlight)).rejects.toThrow('no hold');
    expect(await counters(store, KEY)).toMatchObject({ spent: 0n, held: 0n });
    expect(journal.isSettled()).toBe(true);
  });

  test('holds nothing where its answer was lost, whether it was taken before that is known or arrives later', async () => {
    const { store } = open();
    await held(store, holdRequest({ lanes: [KEY] }));
    const { evalsha } = redis;
    const late: (() => Promise<unknown>)[] = [];
    const losing = vi.spyOn(redis, 'evalsha');
    losing.mockImplementationOnce(async (...args) => {
      await evalsha.apply(redis, args);
      throw new Error('Command timed out');
    });
    losing.mockImplementationOnce(async (...args) => {
      late.push(() => evalsha.apply(redis, args));
      throw new Error('Command timed out');
    });
    for (const request of [carrying(30n), carrying(30n)]) await expect(store.hold(request)).rejects.toThrow('timed out');
    losing.mockRestore();
    expect(await counters(store, KEY)).toMatchObject({ held: 30n });
    await store.sweep();
    for (const arrive of late) await arrive();
    expect(await counters(store, KEY)).toMatchObject({ spent: 0n, held: 0n });
  });

  test('can be taken again under its name after its answer was lost', async () => {
    const { store } = open();
    const request = carrying(30n);
    await held(store, holdRequest({ lanes: [KEY] }));
    vi.spyOn(redis, 'evalsha').mockRejectedValueOnce(new Error('Command timed out'));
    await expect(store.hold(request)).rejects.toThrow('timed out');
    await held(store, request);
    await store.sweep();
    expect(await counters(store, KEY)).toMatchObject({ held: 30n });
  });

  test('that is refused since no epoch is open costs Redis nothing afterwards', async () => {
    const prefix = `test:${randomUUID()}`;
    const own = journals.process(redis, prefix);
    const closed = { current: () => Promise.reject(new Error('closed')), lost: () => {} };
    let epochs = own.epochs;
    const store = new RedisLanes({
      ...{ redis, prefix, source: new ScriptedSource(), ...own, onAppend: () => {}, now: () => NOW, sweeps: { everyMs: 60_000, isMine } },
      epochs: { current: () => epochs.current(), lost: () => {} },
    });
    epochs = closed;
    for (let index = 0; index < 5; index += 1) await expect(store.hold(carrying(1n))).rejects.toThrow('closed');
    epochs = own.epochs;
    const sent = vi.spyOn(redis, 'evalsha');
    await store.sweep();
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  });

  test('whose answer was lost is taken back with a hundred others, after leases are renewed', async () => {
    const { store } = open(undefined, undefined, { everyMs: 60_000, isMine });
    await held(store, carrying(10n));
    const { evalsha } = redis;
    const losing = vi.spyOn(redis, 'evalsha').mockImplementation(async (...args) => {
      await evalsha.apply(redis, args);
      throw new Error('Command timed out');
    });
    for (let index = 0; index < 90; index += 1) await expect(store.hold(carrying(1n))).rejects.toThrow('timed out');
    losing.mockReset().mockImplementation((...args) => evalsha.apply(redis, args));
    expect(await counters(store, KEY)).toMatchObject({ held: 100n });
    await store.sweep();
    expect(losing.mock.calls.map(([digest]) => digest)).toEqual([RENEW.digest, CANCEL.digest]);
    losing.mockRestore();
    expect(await counters(store, KEY)).toMatchObject({ spent: 0n, held: 10n });
  });

  test('is taken back although another partition is away', async () => {
    const { store, prefix } = open();
    const [away, there] = [keyLane('away', 100n), keyLane('there', 100n)];
    const one = randomUUID();
    const requests = [
      { ...carrying(30n), accountId: one, lanes: [away] },
      { ...carrying(30n), accountId: accountElsewhere(one), lanes: [there] },
    ];
    // Lanes are loaded.
    for (const request of requests) await held(store, { ...request, holdId: randomUUID() });
    const { evalsha } = redis;
    const answer = (...args: Parameters<typeof evalsha>) => evalsha.apply(redis, args);
    const losing = vi.spyOn(redis, 'evalsha').mockImplementation(async (...args) => {
      await answer(...args);
      throw new Error('Command timed out');
    });
    for (const request of requests) await expect(store.hold(request)).rejects.toThrow('timed out');
    const silent = partitionKey(prefix, partitionOf(one));
    losing.mockImplementation(async (...args) => {
      if (args.includes(silent)) throw new Error('Command timed out');
      return answer(...args);
    });
    await expect(store.sweep()).rejects.toThrow('timed out');
    expect(await counters(store, there)).toMatchObject({ held: 30n });
    losing.mockRestore();
    await store.sweep();
    expect(await counters(store, away)).toMatchObject({ held: 30n });
  });

  test('is begun anew where it is begun with something else', async () => {
    const { store, prefix, clock } = open();
    const request = carrying(60n);
    await held(store, request);
    await store.begin({ ...request.inFlight, cost: 20n });
    clock.at += 760_000;
    const other = open(prefix, clock).store;
    await other.sweep();
    clock.at += 760_000;
    await other.sweep();
    expect(await counters(other, KEY)).toMatchObject({ spent: 20n, held: 0n });
  });
});
