import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import { Calls } from '../../../kernel/process-calls.ts';
import { describeLaneStoreConformance } from '../conformance.ts';
import { describeLaneParts } from '../conformance-parts.ts';
import { holdRequest, keyLane, ScriptedSource, settlementOf } from '../conformance-requests.ts';
import { counters, held, refused } from '../conformance-store.ts';
import { InProcessLanes } from '../in-process.ts';
import type { LaneSource } from '../port.ts';
import { SettlementJournal } from '../settlement-journal.ts';
import { LaneAuthority } from './lane-authority.ts';
import { type LaneOperations, laneOperations, RemoteLanes } from './remote-lanes.ts';

interface OpenOptions {
  readonly now?: () => number;
  readonly neededAmong?: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly giveBack?: () => Promise<void>;
}

/** An authority, and as many workers at the other end of a socket as are asked for. */
async function open(source: LaneSource, { now, neededAmong = async () => new Set(), giveBack = async () => {} }: OpenOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'tallygate-authority-'));
  const journal = new SettlementJournal(join(dir, 'journal'), (segment, line) => {
    throw new Error(`${segment}: ${line}`);
  });
  const lanes = new InProcessLanes(source, journal, now);
  const authority = new LaneAuthority({ lanes, neededAmong, giveBack, log: silentLog(), settlingMs: 1 });
  const path = join(dir, 's');
  const server = createServer((socket) => {
    const worker = authority.worker();
    new Calls(socket, laneOperations(worker), () => void authority.end(worker));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const sockets: Socket[] = [];
  const worker = () => {
    const socket = connect(path);
    sockets.push(socket);
    return { store: new RemoteLanes(new Calls<LaneOperations>(socket, {}, () => {})), die: () => socket.destroy() };
  };
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    authority.close();
    journal.close();
    rmSync(dir, { recursive: true });
  };
  return { journal, lanes, worker, close };
}

const makeStore = async (source: LaneSource, now: () => number) => {
  const { journal, worker, close } = await open(source, { now });
  return { store: worker().store, feed: journal, close };
};

describeLaneStoreConformance('the store of another process', makeStore);
describeLaneParts('the store of another process', makeStore);

describe('a worker that dies', () => {
  const key = keyLane('k', 100n);

  test('leaves its running calls charged at their holds, and what it had not begun free', async () => {
    const { journal, worker, close } = await open(new ScriptedSource());
    const [dying, other] = [worker(), worker()];
    const begun = holdRequest({ amount: 30n, lanes: [key] });
    const withHold = holdRequest({ amount: 20n, lanes: [key] });
    const idle = holdRequest({ amount: 10n, lanes: [key] });
    await held(dying.store, begun);
    await dying.store.begin(settlementOf(begun, 30n));
    await held(dying.store, { ...withHold, inFlight: settlementOf(withHold, 20n) });
    await held(dying.store, idle);
    expect(await counters(other.store, key)).toMatchObject({ held: 60n });
    dying.die();
    await vi.waitFor(async () => expect(await counters(other.store, key)).toEqual({ spent: 50n, held: 0n, cap: 100n }));
    expect((await journal.read()).entries).toMatchObject([{ charged: 30n }, { charged: 20n }]);
    await close();
  });

  test('has everything done that it had sent', async () => {
    const { worker, close } = await open(new ScriptedSource());
    const [dying, other] = [worker(), worker()];
    const one = holdRequest({ amount: 60n, lanes: [key] });
    await held(dying.store, { ...one, inFlight: settlementOf(one, 60n) });
    const settling = dying.store.settle(settlementOf(one, 7n));
    await new Promise(setImmediate);
    dying.die();
    await expect(settling).rejects.toThrow('has ended');
    await vi.waitFor(async () => expect(await counters(other.store, key)).toEqual({ spent: 7n, held: 0n, cap: 100n }));
    await close();
  });

  test('has what it had begun to give back given back, as soon as that can be done', async () => {
    const giveBack = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error('The database is away')).mockResolvedValue();
    const { worker, close } = await open(new ScriptedSource(), { giveBack });
    const [dying, other] = [worker(), worker()];
    for (const { store } of [dying, other]) await counters(store, key);
    dying.die();
    await vi.waitFor(() => expect(giveBack).toHaveBeenCalledTimes(2), { timeout: 10_000 });
    await close();
  });

  test('leaves what a batch holds to the batch, and frees what no batch needs', async () => {
    const [needed, unneeded] = ['needed', 'unneeded'].map((holdId) => ({
      ...holdRequest({ amount: 40n, lanes: [key] }),
      ...{ holdId, keptUntil: Number.MAX_SAFE_INTEGER },
    }));
    if (!needed || !unneeded) throw new Error('There are two');
    const { worker, close } = await open(new ScriptedSource(), { neededAmong: async () => new Set(['needed']) });
    const [dying, other] = [worker(), worker()];
    for (const one of [needed, unneeded]) await held(dying.store, one);
    dying.die();
    await vi.waitFor(async () => expect(await counters(other.store, key)).toMatchObject({ held: 40n }));
    const part = { partId: 'part', reserved: { amount: 40n, units: {} }, cost: 5n, units: {}, record: '{}' };
    expect(await other.store.settlePart('needed', part)).toMatchObject({ charged: 5n });
    await close();
  });
});

test('workers share one cap: of 200 at once exactly those that fit are let through', async () => {
  const { worker, close } = await open(new ScriptedSource());
  const stores = [worker().store, worker().store];
  const key = keyLane('k', 20n);
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) => stores[index % 2]?.hold(holdRequest({ amount: 1n, lanes: [key] }))),
  );
  expect(outcomes.filter((outcome) => outcome?.held)).toHaveLength(20);
  await close();
});

test('a hold that cannot be begun as it is taken holds nothing', async () => {
  const { lanes, journal, worker, close } = await open(new ScriptedSource());
  const key = keyLane('k', 100n);
  const one = holdRequest({ amount: 60n, lanes: [key] });
  vi.spyOn(journal, 'begin').mockImplementationOnce(() => {
    throw new Error('The journal is on a full disk');
  });
  await expect(worker().store.hold({ ...one, inFlight: settlementOf(one, 60n) })).rejects.toThrow('full disk');
  expect(await counters(lanes, key)).toMatchObject({ held: 0n });
  await close();
});

test('what was begun with another settlement is settled at that', async () => {
  const { worker, close } = await open(new ScriptedSource());
  const [dying, other] = [worker(), worker()];
  const key = keyLane('k', 100n);
  const one = holdRequest({ amount: 60n, lanes: [key] });
  const first = settlementOf(one, 60n);
  await held(dying.store, { ...one, inFlight: first });
  await dying.store.begin(first);
  await dying.store.begin(settlementOf(one, 8n));
  expect(await refused(other.store, holdRequest({ amount: 50n, lanes: [key] }))).toMatchObject({ lane: { held: 60n } });
  dying.die();
  await vi.waitFor(async () => expect(await counters(other.store, key)).toEqual({ spent: 8n, held: 0n, cap: 100n }));
  await close();
});
