import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Delivery, defineJob, enqueue, type Job, type JobQueue } from '../adapters/queue/port.ts';
import { silentLog } from '../kernel/log.ts';
import { type JobRun, startJobs } from './jobs.ts';

/** Hands each job straight to its handler and remembers what it was asked. */
function directQueue() {
  const handlers = new Map<string, (delivery: Delivery) => Promise<void>>();
  const asked: unknown[] = [];
  const queue: JobQueue = {
    add: async (name, payload, retry, options) => {
      asked.push(['add', name, payload, retry.attempts, options]);
    },
    process: async (name, concurrency, handler) => {
      asked.push(['process', name, concurrency]);
      handlers.set(name, handler);
    },
    waiting: async () => 0,
    close: async () => {
      asked.push(['close']);
    },
  };
  const deliver = (name: string, payload: unknown, attempt = 1, isLastAttempt = false) =>
    handlers.get(name)?.({ id: '1', payload, attempt, isLastAttempt });
  return { queue, asked, deliver };
}

async function running(...jobs: Job[]) {
  const direct = directQueue();
  const runs: Omit<JobRun, 'durationMs'>[] = [];
  const onRun = ({ job, outcome }: JobRun) => runs.push({ job, outcome });
  return { ...direct, runs, ...(await startJobs({ jobs, queue: direct.queue, log: silentLog(), onRun })) };
}

const greeted: string[] = [];
const greet = defineJob({
  name: 'test-greet',
  payload: z.object({ user_id: z.string() }),
  run: async ({ user_id }) => {
    greeted.push(user_id);
  },
});
const sweep = defineJob({
  name: 'test-sweep',
  payload: z.object({}),
  concurrency: 3,
  run: () => Promise.reject(new Error('broken broom')),
});

test('every job of the list is processed, so many at a time as it says', async () => {
  const { asked } = await running(greet, sweep);
  expect(asked).toEqual([
    ['process', 'test-greet', 1],
    ['process', 'test-sweep', 3],
  ]);
});

test('a job runs with its payload and is counted as done', async () => {
  const { deliver, runs } = await running(greet);
  await deliver('test-greet', { user_id: 'u1' });
  expect(greeted).toEqual(['u1']);
  expect(runs).toEqual([{ job: 'test-greet', outcome: 'done' }]);
});

test('a failure goes back to the queue and is counted, the last one as final', async () => {
  const { deliver, runs } = await running(sweep);
  await expect(deliver('test-sweep', {})).rejects.toThrow('broken broom');
  await expect(deliver('test-sweep', {}, 5, true)).rejects.toThrow('broken broom');
  expect(runs.map(({ outcome }) => outcome)).toEqual(['retried', 'failed']);
});

test('a payload that the job does not understand is a failure, on the way in and on the way out', async () => {
  const { queue, asked, deliver } = await running(greet);
  await enqueue(queue, greet, { user_id: 'u2' }, { delayMs: 5 });
  expect(asked.at(-1)).toEqual(['add', 'test-greet', { user_id: 'u2' }, 5, { delayMs: 5 }]);
  await expect(deliver('test-greet', { user: 'u2' })).rejects.toThrow(/user_id/);
});

test('close aborts running jobs before it waits for them', async () => {
  let isAborted = () => false;
  const long = defineJob({
    name: 'test-long',
    payload: z.object({}),
    run: async (_payload, { signal }) => {
      isAborted = () => signal.aborted;
    },
  });
  const { deliver, close, asked } = await running(long);
  await deliver('test-long', {});
  expect(isAborted()).toBe(false);
  await close();
  expect(isAborted()).toBe(true);
  expect(asked.at(-1)).toEqual(['close']);
});
