import { request } from 'node:http';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ScriptedAnswer } from '../../inference/calls/testing/inference.ts';
import { type BodyPlace, BodyRoom } from './body-room.ts';
import { openScriptedGateway } from './testing/scripted-gateway.ts';

const NEVER_MS = 600_000;

/** Takes room, and knows whether it has got it. */
function taking(place: BodyPlace, bytes: number) {
  const state = { has: false, refusal: undefined as unknown };
  const done = place.take(bytes).then(
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
    const room = new BodyRoom(100, NEVER_MS);
    const place = room.placeOf('a');
    await place.take(60);
    expect(room.taken).toBe(60);
    place.leave();
    place.leave();
    expect(room.taken).toBe(0);
  });

  test('is waited for in the order in which requests came', async () => {
    const room = new BodyRoom(100, NEVER_MS);
    const first = room.placeOf('a');
    await first.take(60);
    const large = taking(room.placeOf('b'), 60);
    const small = taking(room.placeOf('c'), 10);
    await turn();
    expect([large.state.has, small.state.has]).toEqual([false, false]);
    first.leave();
    await Promise.all([large.done, small.done]);
    expect(room.taken).toBe(70);
  });

  test('is never had by one account whole, and who waits for its own lets others by', async () => {
    const room = new BodyRoom(100, NEVER_MS);
    await room.placeOf('greedy').take(50);
    const more = taking(room.placeOf('greedy'), 30);
    const other = taking(room.placeOf('other'), 40);
    await other.done;
    expect([more.state.has, room.taken]).toEqual([false, 90]);
  });

  test('is all of it for one body that is larger', async () => {
    const room = new BodyRoom(100, NEVER_MS);
    await room.placeOf('a').take(1_000);
    expect(room.taken).toBe(100);
  });

  test('is refused after a while, and whoever waited behind has it', async () => {
    const room = new BodyRoom(100, 20);
    await room.placeOf('a').take(60);
    const waiting = taking(room.placeOf('b'), 50);
    await waiting.done;
    expect(waiting.state.refusal).toMatchObject({ code: 'shared_capacity_full', extras: { retryAfterSeconds: 5 } });
    await room.placeOf('c').take(40);
    expect(room.taken).toBe(100);
  });

  test('is not kept for a request that is over before it had any', async () => {
    const room = new BodyRoom(100, NEVER_MS);
    const first = room.placeOf('a');
    await first.take(100);
    const left = room.placeOf('b');
    const waiting = taking(left, 50);
    left.leave();
    first.leave();
    await turn();
    expect([waiting.state.has, room.taken]).toEqual([false, 0]);
  });

  test('is never more than there is, and all of it comes back', async () => {
    const step = fc.record({ account: fc.integer({ min: 0, max: 3 }), bytes: fc.integer({ min: 1, max: 120 }), leaves: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const room = new BodyRoom(100, NEVER_MS);
        const places: BodyPlace[] = [];
        for (const { account, bytes, leaves } of steps) {
          const place = room.placeOf(String(account));
          places.push(place);
          taking(place, bytes);
          await Promise.resolve();
          expect(room.taken).toBeLessThanOrEqual(100);
          if (leaves) places.shift()?.leave();
          expect(room.taken).toBeLessThanOrEqual(100);
        }
        for (const place of places) place.leave();
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
    const bodyRoom = new BodyRoom(ROOM_BYTES, NEVER_MS);
    const gateway = await openScriptedGateway(turns, { bodyRoom });
    close = gateway.close;
    return { ...gateway, bodyRoom };
  }
  const isFree = (room: BodyRoom) => vi.waitFor(() => expect(room.taken).toBe(0), { timeout: 60_000 });

  test('wait until those before them are answered, and small ones do not', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const answers = [
      new ScriptedAnswer([COMPLETION], 'complete', promise),
      new ScriptedAnswer([COMPLETION]),
      new ScriptedAnswer([COMPLETION]),
    ];
    const { post, sandbox, bodyRoom } = await open(...answers);
    const first = post(LARGE);
    await vi.waitFor(() => expect(sandbox.calls).toHaveLength(1), { timeout: 60_000 });
    const second = post(LARGE);
    expect((await post(SMALL)).status).toBe(200);
    expect([sandbox.calls.length, bodyRoom.taken]).toEqual([2, LARGE.length]);
    resolve();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await isFree(bodyRoom);
  });

  test('leave their room where they are refused, and where they are hung up', async () => {
    const { url, bodyRoom, sandbox } = await open();
    const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };
    expect((await fetch(url, { method: 'POST', headers, body: LARGE.replace('"max_tokens"', '"Max_Tokens"') })).status).toBe(400);
    await isFree(bodyRoom);
    const hungUp = request(url, { method: 'POST', headers: { ...headers, 'content-length': LARGE.length } });
    hungUp.on('error', () => {});
    hungUp.write(LARGE.slice(0, 2_000_000));
    await vi.waitFor(() => expect(bodyRoom.taken).toBe(LARGE.length), { timeout: 60_000 });
    hungUp.destroy();
    await isFree(bodyRoom);
    expect(sandbox.calls).toEqual([]);
  });
});
