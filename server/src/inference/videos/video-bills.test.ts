import { Readable } from 'node:stream';
import { VideoRequest } from '@tallygate/contract';
import type { Step } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../calls/index.ts';
import { CASES, type Case, type Ending, orRefused, play, type Scenario, startProvider } from '../calls/testing/provider-bills.ts';
import { NO_USAGE } from '../calls/usage.ts';
import { openVideoWorld, type VideoWorld } from './testing/videos.ts';
import { videoWork } from './video-work.ts';

/** What a provider bills for a file is what is settled: videos, and recordings that are written down. */

startProvider();
let world: VideoWorld;
beforeAll(async () => {
  world = await openVideoWorld();
});
afterAll(() => world?.close());

const SECONDS = 4;
const PIECES = 6;

/** A picture that takes its time, so that who hangs up may do so in the upload. */
async function* slowly() {
  for (let piece = 0; piece < PIECES; piece += 1) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    yield Buffer.alloc(100, piece);
  }
}
const picture = {
  ...{ field: 'input_reference', filename: 'a.png', contentType: 'image/png', bytes: PIECES * 100 },
  open: () => Readable.from(slowly()),
};

const [{ provider } = { provider: undefined }] = CASES.filter(({ name }) => name === 'images');
const video = (name: string, files: readonly (typeof picture)[]): Case => ({
  ...{ name, model: 'sora-2', canStream: false },
  provider: () => {
    if (!provider) throw new Error('There is a provider of images');
    return provider();
  },
  async work() {
    await world.pool.query('delete from videos');
    const caller = { principal: { kind: 'session', accountId: world.owner.accountId } } as Caller;
    const measures = { seconds: SECONDS, wholeSeconds: SECONDS, size: '720x1280' };
    const request = VideoRequest.parse({ model: 'sora-2', prompt: 'A hello.' });
    const wanted = { ...measures, request, source: null, deployment: undefined, createdAt: new Date() };
    return videoWork(wanted, { received: { sha256: () => 'x', files }, caller }, world.videos);
  },
  usage: ({ seconds }) => ({ ...NO_USAGE, ...(seconds > 0 && { video_seconds: seconds }) }),
});

const LISTENING = CASES.filter(({ name }) => /^trans(cription|lation)/.test(name));
const FILES = [video('videos', []), video('videos of a picture', [picture]), ...LISTENING];
const scenario: Omit<Scenario, 'one' | 'steps'> = {
  ...{ stream: false, ending: 'nobody', afterMs: 0, onCancel: 'keeps_billing', onDisconnect: undefined },
};

/** Ways to fail after the work is done, and billed. */
const BROKEN: readonly (readonly [string, Step])[] = [
  ['is reset behind its head', { cut: { at: 'after_head', how: 'reset' } }],
  ['breaks off behind its first piece', { pieceBytes: 20, cut: { at: 1, how: 'reset' } }],
  ['ends in an orderly way in its middle', { pieceBytes: 20, cut: { at: 1, how: 'fin' } }],
  ['is no HTTP from its middle on', { pieceBytes: 20, cut: { at: 1, how: 'garbage' } }],
  ['is empty', { headers: { 'content-type': 'application/json' }, body: '' }],
  ['is JSON of something else', { body: { ok: true } }],
  ['has the status 500 and is what was asked for', { status: 500, body: { id: 'video_1', object: 'video', status: 'queued' } }],
];

describe.each(FILES.flatMap((one) => BROKEN.map(([fault, step]) => ({ one, name: one.name, fault, step }))))(
  'an answer of $name that $fault',
  ({ one, step }) => {
    test.each<Ending>(['nobody', 'client'])('is settled at what its provider bills (%s leaves)', async (ending) => {
      const steps = [{ ...step, delayMs: 5, billsAnyway: true }] as const;
      const { billed, settled, held, stillHeld, records } = await play({ ...scenario, one, ending, steps });
      expect(billed).toBeGreaterThan(0n);
      expect(settled).toBeGreaterThanOrEqual(billed);
      expect(settled).toBeLessThanOrEqual(held);
      expect(records).toHaveLength(1);
      expect(stillHeld).toBe(0n);
    });
  },
);

test.each(LISTENING)('an error of $name that tells of its usage is settled at it', async (one) => {
  const tokens = { type: 'tokens', input_tokens: 100, output_tokens: 8, total_tokens: 108 };
  const usage = one.name === 'transcription by tokens' ? tokens : { type: 'duration', seconds: 10 };
  for (const ending of ['nobody', 'client'] as const) {
    const step = { status: 500, body: { error: { message: 'x', type: 'server_error' }, usage }, delayMs: 5, billsAnyway: true };
    const { billed, settled } = await play({ ...scenario, one, ending, steps: [step] });
    expect(billed).toBeGreaterThan(0n);
    expect(settled).toBe(billed);
  }
});

test.each([
  ['more than were asked for', '12', 12],
  ['more, as a number', 12, 12],
  ['a part of one more', 4.5, 5],
  ['fewer', '2', SECONDS],
  ['none', undefined, SECONDS],
  ['what is no length', 'long', SECONDS],
  ['more than any video has', 1e9, SECONDS],
])('of the seconds asked for and those that the provider makes, a video costs the more: %s', async (_, seconds, charged) => {
  const [one] = FILES;
  if (!one) throw new Error('There are cases');
  const body = { id: 'video_1', object: 'video', status: 'queued', seconds };
  const { record, reply } = await play({ ...scenario, one, steps: [{ body }] });
  expect(record.usage.video_seconds).toBe(charged);
  expect(JSON.parse(String(reply?.body))).toMatchObject({ seconds: String(charged) });
});

test.each(FILES)('an HTML page in place of an answer of $name costs nothing, also after a hang-up', async (one) => {
  for (const ending of ['nobody', 'client'] as const) {
    const page: Step = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Log in</title>', delayMs: 5 };
    const { settled, stillHeld } = await play({ ...scenario, one, ending, steps: [page] });
    expect({ settled, stillHeld }).toEqual({ settled: 0n, stillHeld: 0n });
  }
});

test('an error in place of a video costs nothing, also after a hang-up', async () => {
  for (const ending of ['nobody', 'client'] as const) {
    const [one] = FILES;
    if (!one) throw new Error('There are cases');
    const { settled, stillHeld } = await play({ ...scenario, one, ending, steps: [{ status: 500, body: { error: {} }, delayMs: 5 }] });
    expect({ settled, stillHeld }).toEqual({ settled: 0n, stillHeld: 0n });
  }
});

test('a hang-up in the upload, before the head or in the body is settled at what its provider bills', async () => {
  const step = fc.record({
    delayMs: fc.constantFrom(0, 0, 8),
    broken: fc.constantFrom<Step>({}, {}, ...BROKEN.map(([, one]) => ({ ...one, billsAnyway: true }))),
  });
  const scenarios = fc.record({
    one: fc.constantFrom(...FILES),
    ending: fc.constantFrom<Ending>('client', 'client', 'client', 'run', 'shutdown', 'deadline'),
    isInUpload: fc.boolean(),
    afterMs: fc.nat({ max: 14 }),
    onCancel: fc.constantFrom('keeps_billing' as const, 'stops_billing' as const),
    onDisconnect: fc.constantFrom(undefined, 'cancel' as const, 'finish' as const),
    steps: fc.tuple(step.map(({ broken, delayMs }): Step => ({ pieceBytes: 40, gapMs: 1, delayMs, ...broken }))),
  });
  await fc.assert(
    fc.asyncProperty(scenarios, async (one) => {
      // The end of its run may overtake a call that has not begun.
      const { billed, settled, held, stillHeld } = await play({ ...one, stream: false }).catch(orRefused('run_closed'));
      expect({ billed: billed <= settled, settled: settled <= held, stillHeld }).toEqual({ billed: true, settled: true, stillHeld: 0n });
    }),
    { numRuns: 40 },
  );
});
