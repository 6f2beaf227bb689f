import { request } from 'node:http';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ScriptedAnswer } from '../../inference/calls/testing/inference.ts';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import { BodyMemory } from './body-memory.ts';
import { openScriptedGateway } from './testing/scripted-gateway.ts';

const NEVER_MS = 600_000;

/** Takes room, and knows whether it has got it. */
function taking(reservation: MemoryReservation, bytes: number) {
  const state = { has: false, refusal: undefined as unknown };
  const done = reservation.acquire(bytes).then(
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
    await reservation.acquire(60);
    expect(room.taken).toBe(60);
    reservation.release();
    reservation.release();
    expect(room.taken).toBe(0);
  });

  test('is waited for in the order in which requests came', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const first = room.reservationOf('a');
    await first.acquire(60);
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
    await room.reservationOf('greedy').acquire(50);
    const more = taking(room.reservationOf('greedy'), 30);
    const other = taking(room.reservationOf('other'), 40);
    await other.done;
    expect([more.state.has, room.taken]).toEqual([false, 90]);
  });

  test('is all of it for one body that is larger', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    await room.reservationOf('a').acquire(1_000);
    expect(room.taken).toBe(100);
  });

  test('is refused after a while, and whoever waited behind has it', async () => {
    const room = new BodyMemory(100, 20);
    await room.reservationOf('a').acquire(60);
    const waiting = taking(room.reservationOf('b'), 50);
    await waiting.done;
    expect(waiting.state.refusal).toMatchObject({ code: 'shared_capacity_full', extras: { retryAfterSeconds: 5 } });
    await room.reservationOf('c').acquire(40);
    expect(room.taken).toBe(100);
  });

  test('is not kept for a request that is over before it had any', async () => {
    const room = new BodyMemory(100, NEVER_MS);
    const first = room.reservationOf('a');
    await first.acquire(100);
    const left = room.reservationOf('b');
    const waiting = taking(left, 50);
    left.release();
    first.release();
    await turn();
    expect([waiting.state.has, room.taken]).toEqual([false, 0]);
  });

  test('is never more than there is, and all of it comes back', async () => {
    const step = fc.record({ account: fc.integer({ min: 0, max: 3 }), bytes: fc.integer({ min: 1, max: 120 }), leaves: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const room = new BodyMemory(100, NEVER_MS);
        const reservations: MemoryReservation[] = [];
        for (const { account, bytes, leaves } of steps) {
          const reservation = room.reservationOf(String(account));
          reservations.push(reservation);
          taking(reservation, bytes);
          await Promise.resolve();
          expect(room.taken).toBeLessThanOrEqual(100);
          if (leaves) reservations.shift()?.release();
          expect(room.taken).toBeLessThanOrEqual(100);
        }
        for (const reservation of reservations) reservation.release();
        expect(room.taken).toBe(0);
      }),
      { numRuns: 100 },
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
