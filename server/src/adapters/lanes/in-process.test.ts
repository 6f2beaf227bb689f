import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeLaneStoreConformance } from './conformance.ts';
import { describeLateSettlements } from './conformance-late.ts';
import { describeLaneParts } from './conformance-parts.ts';
import { holdRequest, keyLane, NOW, quotaLane, refundOf, runLane, ScriptedSource, settlementOf } from './conformance-requests.ts';
import { counters, held, refused } from './conformance-store.ts';
import { InProcessLanes } from './in-process.ts';
import type { LaneSource } from './port.ts';
import { SettlementJournal } from './settlement-journal.ts';

function open(source: LaneSource, now?: () => number) {
  const dir = mkdtempSync(join(tmpdir(), 'tallygate-lanes-'));
  const journal = new SettlementJournal(dir, (segment, line) => {
    throw new Error(`${segment}: ${line}`);
  });
  const close = async () => {
    journal.close();
    rmSync(dir, { recursive: true });
  };
  return { store: new InProcessLanes(source, journal, now), journal, feed: journal, close };
}

describeLaneStoreConformance('the in-process store', async (source, now) => open(source, now));
describeLaneParts('the in-process store', async (source, now) => open(source, now));
describeLateSettlements('the in-process store', async (source, now) => open(source, now));

const MINUTE_MS = 60_000;

/** Waits until nothing is left to be written, as the ledger's writer would see to. */
async function acknowledgeAll(journal: SettlementJournal): Promise<void> {
  while (!journal.isDrained()) (await journal.read()).acknowledge();
}

describe('an idle lane', () => {
  test('is forgotten and read again, once the ledger has what was settled on it', async () => {
    const source = new ScriptedSource();
    const clock = { at: NOW };
    const { store, journal, close } = open(source, () => clock.at);
    const request = holdRequest({ amount: 10n, lanes: [keyLane('k', 100n)], quota: quotaLane('q', { requests: 1n }) });
    await held(store, request);
    await store.settle(settlementOf(request, 10n));
    clock.at += 16 * MINUTE_MS;
    store.sweep();
    expect([...store.books.lanes()]).toContainEqual({ id: 'key:k', counts: { nano_usd: 10n }, isWritten: false });
    await acknowledgeAll(journal);
    expect([...store.books.lanes()]).toContainEqual({ id: 'key:k', counts: { nano_usd: 10n }, isWritten: true });
    store.sweep();
    expect([...store.books.lanes()]).toEqual([]);
    source.money.set('key:k', { spent: 10n, cap: null });
    expect(await refused(store, holdRequest({ amount: 91n, lanes: [keyLane('k', 100n)] }))).toMatchObject({ lane: { spent: 10n } });
    await close();
  });

  test('is forgotten although settlements on other lanes are still unwritten', async () => {
    const clock = { at: NOW };
    const { store, journal, close } = open(new ScriptedSource(), () => clock.at);
    const [first, second] = [holdRequest({ funds: keyLane('a', 1n) }), holdRequest({ funds: keyLane('b', 1n) })];
    await held(store, first);
    await held(store, second);
    store.settle(settlementOf(first, 1n));
    await acknowledgeAll(journal);
    store.settle(settlementOf(second, 1n));
    clock.at += 16 * MINUTE_MS;
    store.sweep();
    expect([...store.books.lanes()].map(({ id }) => id)).toEqual(['key:b']);
    await close();
  });

  test('is kept as long as a hold on it may still be settled', async () => {
    const clock = { at: NOW };
    const { store, journal, close } = open(new ScriptedSource(), () => clock.at);
    const late = holdRequest({
      amount: 10n,
      lanes: [keyLane('k', 100n)],
      quota: quotaLane('q', { requests: 1n }),
      funds: keyLane('f', null),
    });
    await held(store, late);
    for (let days = 0; days < 31; days += 1) {
      clock.at += 24 * 60 * MINUTE_MS;
      store.sweep();
    }
    expect(await counters(store, keyLane('k', 100n))).toMatchObject({ held: 10n });
    expect(store.settle(settlementOf(late, 10n, { tokens: 1n }))).toMatchObject({ charged: 10n });
    expect(await counters(store, keyLane('k', 100n))).toEqual({ spent: 10n, held: 0n, cap: 100n });
    await acknowledgeAll(journal);
    clock.at += 16 * MINUTE_MS;
    store.sweep();
    expect([...store.books.lanes()]).toEqual([]);
    await close();
  });

  test('is kept while requests that are refused name it, and so is the ceiling that they set', async () => {
    const clock = { at: NOW };
    const { store, close } = open(new ScriptedSource(), () => clock.at);
    const tries = (cap: bigint) => holdRequest({ amount: 50n, lanes: [runLane('r', cap)] });
    await refused(store, tries(40n));
    clock.at += 10 * MINUTE_MS;
    await refused(store, tries(1_000n));
    clock.at += 10 * MINUTE_MS;
    store.sweep();
    expect(await refused(store, tries(1_000n))).toMatchObject({ lane: { cap: 40n } });
    await close();
  });
});

test('a settlement that the journal does not take has not happened: the hold stands and can be settled again', async () => {
  const { journal, close } = open(new ScriptedSource());
  let isFull = true;
  const journalOnFullDisk: Pick<SettlementJournal, 'append' | 'appendCeiling' | 'begin' | 'end' | 'isAcknowledged'> = {
    begin: (hold) => journal.begin(hold),
    end: (holdId) => journal.end(holdId),
    appendCeiling: (ceiling) => journal.appendCeiling(ceiling),
    append: (entry) => {
      if (isFull) throw new Error('ENOSPC');
      return journal.append(entry);
    },
    isAcknowledged: (position) => journal.isAcknowledged(position),
  };
  const store = new InProcessLanes(new ScriptedSource(), journalOnFullDisk);
  const request = holdRequest({ amount: 50n, lanes: [keyLane('k', 100n)] });
  await held(store, request);
  expect(() => store.settle(settlementOf(request, 30n))).toThrow('ENOSPC');
  expect(await counters(store, keyLane('k', 100n))).toEqual({ spent: 0n, held: 50n, cap: 100n });
  isFull = false;
  expect(store.settle(settlementOf(request, 30n))).toMatchObject({ charged: 30n });
  await close();
});

test('a loaded lane is held without a turn of the event loop', async () => {
  const { store, close } = open(new ScriptedSource());
  await held(store, holdRequest({ lanes: [keyLane('k', 100n)] }));
  expect(store.hold(holdRequest({ amount: 1n, lanes: [keyLane('k', 100n)] }))).toMatchObject({ held: true });
  await close();
});

test('a ceiling that a request has set or tightened is in the journal before it is asked, also when the request is refused; a wider one is not', async () => {
  const { store, journal, close } = open(new ScriptedSource());
  await store.hold(holdRequest({ amount: 10n, lanes: [runLane('r', 100n)] }));
  await store.hold(holdRequest({ amount: 10n, lanes: [runLane('r', 500n)] }));
  expect(await store.hold(holdRequest({ amount: 90n, lanes: [runLane('r', 5n)] }))).toMatchObject({ held: false });
  const { ceilings } = await journal.read();
  expect(ceilings.map(({ laneId, cap }) => [laneId, cap])).toEqual([
    ['run:r', 100n],
    ['run:r', 5n],
  ]);
  await close();
});

test('a ceiling that cannot be written refuses: nothing is held under it', async () => {
  const { journal, close } = open(new ScriptedSource());
  const store = new InProcessLanes(new ScriptedSource(), {
    append: (entry) => journal.append(entry),
    begin: () => {},
    end: () => {},
    appendCeiling: () => {
      throw new Error('ENOSPC');
    },
    isAcknowledged: (position) => journal.isAcknowledged(position),
  });
  await expect(async () => store.hold(holdRequest({ amount: 10n, lanes: [runLane('r', 100n)] }))).rejects.toThrow('ENOSPC');
  expect((await store.inspect(['run:r'])).get('run:r')).toMatchObject({ held: 0n, cap: null });
  await close();
});

describe('parts and refunds', () => {
  const part = (partId: string, cost: bigint) => ({ partId, reserved: { amount: 50n, units: {} }, cost, units: {}, record: '{}' });

  test('that the journal does not take have not happened, and may be tried again', async () => {
    const { journal, close } = open(new ScriptedSource());
    let isFull = true;
    const store = new InProcessLanes(new ScriptedSource(), {
      appendCeiling: (ceiling) => journal.appendCeiling(ceiling),
      begin: (hold) => journal.begin(hold),
      end: (holdId) => journal.end(holdId),
      append: (entry) => {
        if (isFull) throw new Error('ENOSPC');
        return journal.append(entry);
      },
      isAcknowledged: (position) => journal.isAcknowledged(position),
    });
    const batch = holdRequest({ amount: 100n, lanes: [keyLane('k', 100n)] });
    await held(store, batch);
    const refund = refundOf(batch, 10n, { charged: 10n, covered: {} });
    expect(() => store.settlePart(batch.holdId, part('1', 30n))).toThrow('ENOSPC');
    expect(() => store.refund(refund)).toThrow('ENOSPC');
    expect(await counters(store, keyLane('k', 100n))).toEqual({ spent: 0n, held: 100n, cap: 100n });
    isFull = false;
    expect(store.settlePart(batch.holdId, part('1', 30n))).toMatchObject({ charged: 30n });
    expect(store.refund(refund)).toBe(true);
    expect(await counters(store, keyLane('k', 100n))).toEqual({ spent: 20n, held: 50n, cap: 100n });
    await close();
  });

  test('are known until the ledger has known them for an hour', async () => {
    const clock = { at: NOW };
    const { store, journal, close } = open(new ScriptedSource(), () => clock.at);
    const sweepAfter = (minutes: number) => {
      clock.at += minutes * MINUTE_MS;
      store.sweep();
    };
    const batch = holdRequest({ amount: 100n, lanes: [keyLane('k', 100n)] });
    await held(store, batch);
    const again = () => store.settlePart(batch.holdId, part('1', 30n));
    again();
    sweepAfter(100);
    sweepAfter(100);
    expect(again()).toBe('settled_before');
    await acknowledgeAll(journal);
    sweepAfter(0);
    sweepAfter(59);
    expect(again()).toBe('settled_before');
    sweepAfter(1);
    expect(again()).not.toBe('settled_before');
    await close();
  });

  test('a batch outlives the process: what is unfinished is held anew, what was settled is in the ledger by then', async () => {
    const source = new ScriptedSource();
    const dir = mkdtempSync(join(tmpdir(), 'tallygate-lanes-'));
    const journalIn = () => new SettlementJournal(dir, () => {});
    const batch = (amount: bigint) => holdRequest({ holdId: 'batch', amount, lanes: [keyLane('k', 100n)] });
    const first = new InProcessLanes(source, journalIn());
    await first.hold(batch(100n));
    first.settlePart('batch', part('1', 30n));
    // kill -9, and a start: the journal is drained into the ledger before anybody holds.
    const journal = journalIn();
    const { entries } = await journal.read();
    source.money.set('key:k', { spent: entries.reduce((sum, { charged }) => sum + charged, 0n), cap: null });
    await acknowledgeAll(journal);
    const second = new InProcessLanes(source, journal);
    expect(await second.hold(batch(50n))).toMatchObject({ held: true });
    expect(second.settlePart('batch', part('2', 40n))).toMatchObject({ charged: 40n, debt: 0n });
    expect(await counters(second, keyLane('k', 100n))).toEqual({ spent: 70n, held: 0n, cap: 100n });
    journal.close();
    rmSync(dir, { recursive: true });
  });
});
