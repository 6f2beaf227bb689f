import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { createQuestionThread, type QuestionThread } from './question-thread.ts';

let started = 0;
let thread: QuestionThread<string | Uint8Array, number>;
/** Takes 700 ms to load, works for ever on `hostile`, answers everything else with 7. */
const startWorker = () => {
  started += 1;
  return new Worker(
    `const { parentPort } = require('node:worker_threads');
     const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
     sleep(700);
     parentPort.on('message', ({ id, question }) => {
       parentPort.postMessage({ id, begun: true });
       if (question === 'hostile') sleep(60_000);
       if (question === 'fails') throw new Error('on request');
       parentPort.postMessage({ id, answer: 7 });
     });`,
    { eval: true },
  );
};
const threadWith = (times: { limitMs: number; patienceMs: number; idleMs?: number }) => {
  started = 0;
  thread = createQuestionThread({ startWorker, ...times });
};
afterEach(() => thread.close());

test('a worker that loads for longer than the limit answers, and is started once', async () => {
  threadWith({ limitMs: 300, patienceMs: 60_000 });
  expect(await Promise.all([thread.ask('one'), thread.ask('two')])).toEqual([7, 7]);
  expect(started).toBe(1);
});

test('callers stop waiting after their timeout, and the worker continues to load', async () => {
  threadWith({ limitMs: 60_000, patienceMs: 100 });
  expect(await thread.ask('one')).toBeUndefined();
  await expect.poll(() => thread.ask('one')).toBe(7);
  expect(started).toBe(1);
});

test('a question that is worked on for too long is given up, and those behind it are answered', async () => {
  threadWith({ limitMs: 300, patienceMs: 60_000 });
  const asked = [thread.ask('hostile'), thread.ask('behind'), thread.ask(new Uint8Array(1))];
  expect(await Promise.all(asked)).toEqual([undefined, 7, 7]);
  expect(started).toBe(2);
});

test('a transferred question is not repeated after its worker is replaced', async () => {
  threadWith({ limitMs: 300, patienceMs: 60_000 });
  const bytes = new Uint8Array(1);
  expect(await Promise.all([thread.ask('hostile'), thread.ask(bytes, [bytes.buffer])])).toEqual([undefined, undefined]);
});

test('a failed worker answers no question, and the next question starts another worker', async () => {
  threadWith({ limitMs: 60_000, patienceMs: 60_000 });
  expect(await Promise.all([thread.ask('fails'), thread.ask('behind')])).toEqual([undefined, undefined]);
  expect(await thread.ask('next')).toBe(7);
  expect(started).toBe(2);
});

test('an idle worker is ended', async () => {
  threadWith({ limitMs: 60_000, patienceMs: 60_000, idleMs: 1 });
  expect(await thread.ask('one')).toBe(7);
  await expect.poll(async () => [await thread.ask('again'), started >= 2]).toEqual([7, true]);
});

test('what is open when it closes is answered rather than left to wait', async () => {
  threadWith({ limitMs: 60_000, patienceMs: 60_000 });
  const open = thread.ask('one');
  await thread.close();
  expect(await open).toBeUndefined();
});
