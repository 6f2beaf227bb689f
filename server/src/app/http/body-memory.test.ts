import { request } from 'node:http';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ScriptedAnswer } from '../../inference/calls/testing/inference.ts';
import type { Arrival, MemoryReservation } from '../../kernel/memory-reservation.ts';
import { BodyMemory } from './body-memory.ts';
import { openScriptedGateway } from './testing/scripted-gateway.ts';

const NEVER_MS = 600_000;

/** Of what comes in time. */
const arrivalOf = (most: number): Arrival => ({ most, withinMs: 1_000, come: () => most, giveWay: () => {} });

/** Takes room, and knows whether it has got it. */
function taking(reservation: MemoryReservation, bytes: number, arrival: Partial<Arrival> = {}) {
  const state = { has: false, refusal: undefined as unknown };
  const done = reservation.acquire({ ...arrivalOf(bytes), ...arrival }).then(
    () => {
      state.has = true;
    },
    (refusal: unknown) => {
      state.refusal = refusal;
    },
  );
  return { state, done };
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('room for large bodies', () => {
  test('is had at once where there is some, and is free again afterwards', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const reservation = room.reservationOf('a');
    await reservation.acquire(arrivalOf(60));
    expect(room.taken).toBe(60);
    reservation.release();
    reservation.release();
    expect(room.taken).toBe(0);
  });

  test('is waited for in the order in which requests came', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const first = room.reservationOf('a');
    await first.acquire(arrivalOf(60));
    const large = taking(room.reservationOf('b'), 60);
    const small = taking(room.reservationOf('c'), 10);
    await turn();
    expect([large.state.has, small.state.has]).toEqual([false, false]);
    first.release();
    await Promise.all([large.done, small.done]);
    expect(room.taken).toBe(70);
  });

  test('is never had by one account whole, and who waits for its own lets others by', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    await room.reservationOf('greedy').acquire(arrivalOf(50));
    const more = taking(room.reservationOf('greedy'), 30);
    const other = taking(room.reservationOf('other'), 40);
    await other.done;
    expect([more.state.has, room.taken]).toEqual([false, 90]);
  });

  test('is all of it for one body that is larger', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    await room.reservationOf('a').acquire(arrivalOf(1_000));
    expect(room.taken).toBe(100);
  });

  test('is refused after a while, and whoever waited behind has it', async () => {
    const room = new BodyMemory(100, 20);
    await room.reservationOf('a').acquire(arrivalOf(60));
    const waiting = taking(room.reservationOf('b'), 50);
    await waiting.done;
    expect(waiting.state.refusal).toMatchObject({ code: 'shared_capacity_full', extras: { retryAfterSeconds: 5 } });
    await room.reservationOf('c').acquire(arrivalOf(40));
    expect(room.taken).toBe(100);
  });

  test('is not kept for a request that is over before it had any', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const first = room.reservationOf('a');
    await first.acquire(arrivalOf(100));
    const left = room.reservationOf('b');
    const waiting = taking(left, 50);
    left.release();
    first.release();
    await turn();
    expect([waiting.state.has, room.taken]).toEqual([false, 0]);
  });

  test('is no more than a body has, once all of it has come', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const reservation = room.reservationOf('a');
    await reservation.acquire(arrivalOf(80));
    const next = taking(room.reservationOf('b'), 70);
    reservation.complete(30);
    await next.done;
    expect(room.taken).toBe(100);
    reservation.release();
    expect(room.taken).toBe(70);
  });

  test('is had by accounts in turns, however many bodies one of them sends', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const first = room.reservationOf('many');
    await first.acquire(arrivalOf(100));
    const more = [taking(room.reservationOf('many'), 100), taking(room.reservationOf('many'), 100)];
    const other = taking(room.reservationOf('other'), 100);
    first.release();
    await other.done;
    expect(more.map(({ state }) => state.has)).toEqual([false, false]);
  });

  test('is never more than there is, and all of it comes back', async () => {
    const step = fc.record({
      ...{ account: fc.integer({ min: 0, max: 3 }), bytes: fc.integer({ min: 1, max: 120 }) },
      fate: fc.constantFrom('stays', 'is complete', 'leaves'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const room = new BodyMemory(100, NEVER_MS);
        const reservations: MemoryReservation[] = [];
        for (const { account, bytes, fate } of steps) {
          const reservation = room.reservationOf(String(account));
          reservations.push(reservation);
          taking(reservation, bytes);
          await Promise.resolve();
          expect(room.taken).toBeLessThanOrEqual(100);
          if (fate === 'is complete') reservations[0]?.complete(bytes / 2);
          if (fate === 'leaves') reservations.shift()?.release();
          expect(room.taken).toBeLessThanOrEqual(100);
        }
        for (const reservation of reservations) reservation.release();
        expect(room.taken).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});

describe('room for large bodies, of which some come slowly,', () => {
  const [ROOM, WITHIN_MS, STEP_MS] = [100_000_000, 30_000, 50];
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A body of which so many bytes come each millisecond, as long as it has room; it is answered as soon as it is there. */
  function sending(room: BodyMemory, account: string, most: number, perMs: number) {
    const reservation = room.reservationOf(account);
    const body = { come: 1_048_576, gaveWay: false, isOver: false, state: { has: false, refusal: undefined as unknown } };
    const end = (gaveWay: boolean) => {
      [body.gaveWay, body.isOver] = [gaveWay, true];
      reservation.release();
    };
    body.state = taking(reservation, most, { withinMs: WITHIN_MS, come: () => body.come, giveWay: () => end(true) }).state;
    const pass = (): void => {
      if (body.isOver || !body.state.has) return;
      body.come += perMs * STEP_MS;
      if (body.come >= most) end(false);
    };
    return { body, pass };
  }

  test('is given to everybody who waits, whatever two accounts trickle, and taken from nobody who would be there in time', async () => {
    const size = fc.integer({ min: 2_000_000, max: 50_000_000 });
    const trickle = fc.record({ account: fc.constantFrom('slow-1', 'slow-2'), most: size, perMs: fc.constantFrom(0, 1, 20) });
    const honest = fc.record({
      account: fc.constantFrom('a', 'b', 'c'),
      most: fc.integer({ min: 2_000_000, max: 37_000_000 }),
      faster: fc.double({ min: 1.1, max: 30, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(trickle, { minLength: 2, maxLength: 12 }),
        fc.array(honest, { minLength: 1, maxLength: 2 }),
        async (slow, others) => {
          const room = new BodyMemory(ROOM);
          // As soon as one of theirs is over, they send the next.
          let trickles = slow.map(({ account, most, perMs }) => sending(room, account, most, perMs));
          const bodies = others.map(({ account, most, faster }) => sending(room, account, most, (most / WITHIN_MS) * faster));
          for (let ms = 0; ms < 45_000 && bodies.some(({ body }) => !body.isOver); ms += STEP_MS) {
            await vi.advanceTimersByTimeAsync(STEP_MS);
            for (const { pass } of [...trickles, ...bodies]) pass();
            trickles = trickles.map((one, at) => {
              const { account = '', most = 0, perMs = 0 } = slow[at] ?? {};
              return one.body.isOver || one.body.state.refusal ? sending(room, account, most, perMs) : one;
            });
            expect(room.taken).toBeLessThanOrEqual(ROOM);
          }
          for (const { body } of bodies)
            expect(body).toMatchObject({ isOver: true, gaveWay: false, state: { has: true, refusal: undefined } });
          vi.clearAllTimers();
        },
      ),
      { numRuns: 30, endOnFailure: true },
    );
  });
});

/** Two of them have no room together. */
const ROOM_BYTES = 4_000_000;
const LARGE = JSON.stringify({
  ...{ model: 'gpt-4o-mini', max_tokens: 10, user: 'x'.repeat(2_500_000) },
  messages: [{ role: 'user', content: 'Hi' }],
});
const SMALL = JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });
const COMPLETION = JSON.stringify({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o-mini' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop', logprobs: null }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

describe('large requests at the same time', () => {
  let close = () => {};
  afterEach(() => close());
  async function open(...turns: ScriptedAnswer[]) {
    const bodyMemory = new BodyMemory(ROOM_BYTES, NEVER_MS);
    const gateway = await openScriptedGateway(turns, { bodyMemory });
    close = gateway.close;
    return { ...gateway, bodyMemory };
  }
  const isFree = (room: BodyMemory) => vi.waitFor(() => expect(room.taken).toBe(0), { timeout: 60_000 });

  test('wait until those before them are answered, and small ones do not', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const answers = [
      new ScriptedAnswer([COMPLETION], 'complete', promise),
      new ScriptedAnswer([COMPLETION]),
      new ScriptedAnswer([COMPLETION]),
    ];
    const { post, sandbox, bodyMemory } = await open(...answers);
    const first = post(LARGE);
    await vi.waitFor(() => expect(sandbox.calls).toHaveLength(1), { timeout: 60_000 });
    const second = post(LARGE);
    expect((await post(SMALL)).status).toBe(200);
    expect([sandbox.calls.length, bodyMemory.taken]).toEqual([2, LARGE.length]);
    resolve();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await isFree(bodyMemory);
  });

  test('leave their room where they are refused, and where they are hung up', async () => {
    const { url, bodyMemory, sandbox } = await open();
    const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };
    expect((await fetch(url, { method: 'POST', headers, body: LARGE.replace('"max_tokens"', '"Max_Tokens"') })).status).toBe(400);
    await isFree(bodyMemory);
    const hungUp = request(url, { method: 'POST', headers: { ...headers, 'content-length': LARGE.length } });
    hungUp.on('error', () => {});
    hungUp.write(LARGE.slice(0, 2_000_000));
    await vi.waitFor(() => expect(bodyMemory.taken).toBe(LARGE.length), { timeout: 60_000 });
    hungUp.destroy();
    await isFree(bodyMemory);
    expect(sandbox.calls).toEqual([]);
  });
});
