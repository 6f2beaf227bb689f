import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EndedTurns } from './ended-turns.ts';
import { SessionSettings } from './session-settings.ts';
import { Transcripts } from './transcripts.ts';

const COMPLETED = 'conversation.item.input_audio_transcription.completed';

/** A hold, and what became of it. */
interface Hold {
  readonly model: string;
  readonly seconds: number;
  state: 'held' | 'released' | 'settled' | 'settled at most';
}

/** A session that tells what it holds; its provider answers when the test says so. */
function sessionWith(model: string | null, most = 100) {
  const holds: Hold[] = [];
  const settings = new SessionSettings('gpt-realtime', 'gpt-realtime');
  const transcripts = new Transcripts({
    settings,
    facts: { requestId: 'request', target: { deployment: { provider: 'openai' } } },
    deps: { log: { warn: () => {} } },
    hold: async (workOf: () => { model: string; bound: (model: unknown) => { audioSeconds: number } }) => {
      const work = workOf();
      const hold: Hold = { model: work.model, seconds: work.bound(undefined).audioSeconds, state: 'held' };
      if (holds.filter(({ state }) => state === 'held').length >= most) throw new Error('no more can be held');
      holds.push(hold);
      return {
        call: { receiptId: 'receipt' },
        admission: { targets: [{ deployment: { upstreamModel: work.model }, model: { meters: new Set(['audio_seconds']) } }] },
        begins: () => {},
        release: async () => void Object.assign(hold, { state: 'released' }),
        settle: async ({ usage }: { usage: unknown }) =>
          void Object.assign(hold, { state: usage === undefined ? 'settled at most' : 'settled' }),
      };
    },
  } as unknown as ConstructorParameters<typeof Transcripts>[0]);
  const session = {
    transcripts,
    settings,
    /** Asks for another model; the provider has not answered. */
    async change(to: string | null): Promise<void> {
      const asked = { type: 'realtime', audio: { input: { transcription: to === null ? null : { model: to } } } };
      settings.change({ type: 'session.update', session: asked }, asked, await transcripts.prepare(asked));
      await transcripts.cover();
    },
    async agreed(): Promise<void> {
      settings.agreed();
      await transcripts.changed();
    },
    say: (seconds: number) => transcripts.hear(seconds),
    ended: (item: string) =>
      transcripts.ended(Buffer.from('{"type":"x"}'), { type: COMPLETED, item_id: item, usage: { type: 'duration', seconds: 1 } }),
    /** Of every hold but those that only found out whether it would do. */
    get outcomes(): string[] {
      return holds.slice(probes).map(({ model, state }) => `${model} ${state}`);
    },
    holds,
  };
  let probes = 0;
  const ready = async () => {
    if (model !== null) await session.change(model);
    await session.agreed();
    probes = holds.length;
    return session;
  };
  return ready();
}

test('each of two turns whose ends are sent at once is settled', async () => {
  const { transcripts, say, ended, ...session } = await sessionWith('whisper-1');
  await say(30);
  await transcripts.marks('commit', undefined);
  await say(30);
  await transcripts.marks('commit', undefined);
  for (const item of ['a', 'b']) await transcripts.committed(item);
  for (const item of ['a', 'b']) await ended(item);
  expect(session.holds.filter(({ state }) => state === 'settled')).toHaveLength(2);
  expect(session.holds.filter(({ state }) => state === 'held')).toEqual([]);
});

test('each turn that the provider finds in sound that came at once is settled, whether or not it says where they end', async () => {
  for (const ends of [
    [10, 20, 30],
    ['unknown', 'unknown', 'unknown'],
  ] as const) {
    const session = await sessionWith('whisper-1');
    await session.say(30);
    for (const [index, end] of ends.entries()) await session.transcripts.committed(`turn ${index}`, end);
    for (const index of ends.keys()) await session.ended(`turn ${index}`);
    expect(session.holds.filter(({ state }) => state === 'settled')).toHaveLength(3);
  }
});

test.each([null, 'gpt-4o-mini-transcribe'])('a turn that ended before the model was changed to %s is settled at its own', async (to) => {
  const session = await sessionWith('whisper-1');
  await session.say(30);
  await session.transcripts.marks('commit', undefined);
  await session.change(to);
  await session.transcripts.committed('a');
  await session.agreed();
  await session.ended('a');
  expect(session.outcomes.filter((outcome) => outcome.endsWith('settled'))).toEqual(['whisper-1 settled']);
});

test('a turn that ends after the model was changed within it is held and settled at the new one', async () => {
  const session = await sessionWith('gpt-4o-mini-transcribe');
  await session.say(30);
  await session.change('whisper-1');
  await session.agreed();
  await session.transcripts.marks('commit', undefined);
  await session.transcripts.committed('a');
  await session.ended('a');
  expect(session.outcomes.filter((outcome) => outcome.endsWith('settled'))).toEqual(['whisper-1 settled']);
  expect(session.holds.filter(({ state }) => state === 'held')).toEqual([]);
});

test('sound that is sent behind a clear is held when the provider has cleared what came before', async () => {
  const session = await sessionWith('whisper-1');
  await session.transcripts.marks('clear', undefined);
  await session.say(30);
  await session.transcripts.cleared();
  await session.transcripts.marks('commit', undefined);
  await session.transcripts.committed('a');
  await session.ended('a');
  expect(session.outcomes).toEqual(['whisper-1 settled']);
});

test('a turn whose end was sent is paid where the connection ends, and sound without an end is not', async () => {
  for (const [isEnded, states] of [
    [true, [1, 0]],
    [false, [0, 1]],
  ] as const) {
    const session = await sessionWith('whisper-1');
    await session.say(30);
    if (isEnded) await session.transcripts.marks('commit', undefined);
    await session.transcripts.forget();
    const released = session.outcomes.filter((outcome) => outcome.endsWith('released'));
    expect([session.transcripts.takeAll().length, released.length]).toEqual(states);
  }
});

test('a turn is settled at all that is held where the sound behind it cannot be held', async () => {
  const session = await sessionWith('whisper-1', 1);
  await session.say(30);
  await expect(session.transcripts.committed('a', 10)).rejects.toThrow('no more can be held');
  await session.ended('a');
  expect(session.outcomes).toEqual(['whisper-1 settled at most']);
});

test('a change that the provider refuses takes back nothing that was asked for after it', () => {
  const settings = new SessionSettings('gpt-realtime', 'gpt-realtime');
  const whisper = { model: 'whisper-1', upstreamModel: 'whisper-1', promptBytes: 1 };
  const update = { type: 'session.update', event_id: 'same' };
  const { event_id: first } = settings.change(update, { type: 'realtime' });
  settings.change(update, { type: 'realtime', audio: { input: { transcription: {} } } }, whisper);
  expect(settings.refused('same')).toBeUndefined();
  expect(settings.refused(String(first))).toMatchObject({ askedBy: 'same' });
  settings.agreed();
  expect(settings.transcription).toEqual(whisper);
});

test('a turn is held for no less than its sound, in whatever order the provider tells of it, and what it leaves out', async () => {
  const turn = fc.record({
    seconds: fc.integer({ min: 1, max: 300 }),
    told: fc.constantFrom('with its end', 'without its end', 'not at all'),
    later: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.boolean(), async (turns, isSentAtOnce) => {
      const { transcripts, ended, holds, say } = await sessionWith('whisper-1');
      const heard = new EndedTurns();
      let end = 0;
      const told = turns.map(({ seconds, told: how, later }, at) => {
        end += seconds;
        // What is told in no event is known by its place alone.
        return { item: `item ${at}`, seconds, how, endMs: end * 1_000, at: how === 'not at all' ? at : at + later };
      });
      if (isSentAtOnce) await say(end);
      for (let at = 0; at < turns.length + 4; at += 1) {
        const now = told[at];
        if (now && !isSentAtOnce) await say(now.seconds);
        if (now && now.how !== 'not at all') heard.ended(now.item, now.how === 'with its end' ? now.endMs : undefined);
        for (const { item, seconds } of told.filter((one) => one.at === at)) {
          await transcripts.committed(item, heard.committed(item));
          const held = holds.filter(({ state }) => state === 'held');
          await ended(item);
          const [settled] = held.filter(({ state }) => state === 'settled');
          expect(settled?.seconds).toBeGreaterThanOrEqual(seconds);
        }
      }
    }),
  );
});
