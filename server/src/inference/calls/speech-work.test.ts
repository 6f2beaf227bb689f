import { SpeechRequest } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import { createRecordings } from './recordings/recordings.ts';
import { speechWork } from './speech-work.ts';
import { countTokensGuarded } from './token-count.ts';
import { NO_USAGE } from './usage.ts';

const tokenizer = { count: countTokensGuarded, close: async () => {} };
const recordings = createRecordings();
const model = (id: string) => {
  const found = loadCatalog().find(id);
  if (!found) throw new Error(id);
  return found;
};
const [BY_TOKENS, BY_CHARACTERS] = [model('gpt-4o-mini-tts'), model('tts-1')];
const workOf = (fields: object = {}) =>
  speechWork(
    SpeechRequest.parse({ model: 'gpt-4o-mini-tts', input: 'Say hello.', voice: 'alloy', ...fields }),
    { bytes: Buffer.alloc(0), files: [], sha256: () => 'x' },
    recordings,
  );
const dialectOf = (fields: object, of = BY_TOKENS) => {
  const dialect = workOf(fields).dialects.find(({ suits }) => suits?.(of, { readsGoogleFields: false }) ?? true);
  if (!dialect) throw new Error('no dialect');
  return dialect;
};
const COST = { usage: NO_USAGE, costUsd: 0.0001 };
const SOUND = Buffer.from('a sound of several bytes');
const USAGE = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const delta = (sound: Buffer) => event({ type: 'speech.audio.delta', audio: sound.toString('base64') });
const EVENTS = delta(SOUND.subarray(0, 10)) + delta(SOUND.subarray(10));
const WHOLE = EVENTS + event({ type: 'speech.audio.done', usage: USAGE });

describe('speech that is priced by tokens', () => {
  test('is asked for in events, whatever the caller asks for, and by characters it is asked for as it is', () => {
    expect(dialectOf({}).request).toMatchObject({ stream_format: 'sse' });
    expect(dialectOf({ stream_format: 'sse' }).request).toMatchObject({ stream_format: 'sse' });
    expect(dialectOf({}, BY_CHARACTERS).request).not.toHaveProperty('stream_format');
  });

  test.each([1, 7, 1_000])(
    'reaches the caller as plain sound, cut into pieces of %i bytes, and its usage is the provider’s',
    async (bytes) => {
      const filter = dialectOf({ response_format: 'wav' }).form.openStream('text/event-stream; charset=utf-8');
      const passed: Buffer[] = [];
      for (let at = 0; at < WHOLE.length; at += bytes) passed.push(await filter.push(Buffer.from(WHOLE.slice(at, at + bytes))));
      passed.push(await filter.end());
      expect(Buffer.concat(passed)).toEqual(SOUND.subarray(0, -1));
      expect(Buffer.concat([...passed, await filter.lastBytes(COST)])).toEqual(SOUND);
      expect([filter.contentType, filter.isComplete]).toEqual(['audio/wav', true]);
      expect(filter.usage).toMatchObject({ input_tokens: 14, output_tokens: 101 });
    },
  );

  test('is whole for those who may repeat it', async () => {
    const answer = await dialectOf({}).form.read(Buffer.from(WHOLE), 'text/event-stream');
    expect([answer?.contentType, await answer?.toBytes(COST)]).toEqual(['audio/mpeg', SOUND]);
    expect(answer?.usage).toMatchObject({ input_tokens: 14, output_tokens: 101 });
    expect(await dialectOf({}).form.read(Buffer.from('<html>'), 'text/html')).toBeUndefined();
  });

  test('that breaks off, or says that it took nothing, has no usage of the provider', async () => {
    const cut = dialectOf({}).form.openStream('text/event-stream');
    await cut.push(Buffer.from(EVENTS));
    await cut.end();
    expect([cut.isComplete, cut.usage]).toEqual([false, undefined]);
    const zero = dialectOf({}).form.openStream('text/event-stream');
    await zero.push(
      Buffer.from(EVENTS + event({ type: 'speech.audio.done', usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } })),
    );
    expect([zero.isComplete, zero.usage]).toEqual([true, undefined]);
  });

  test('without usage is counted by how long it lasts, and at its bound where that cannot be read', async () => {
    const work = workOf({ response_format: 'pcm', input: 'Say hello to all of them.' });
    const { form } = dialectOf({ response_format: 'pcm' });
    const filter = form.openStream('audio/pcm');
    // Six seconds of 24,000 samples of two bytes: more than is kept would be is scaled.
    await filter.push(Buffer.alloc(6 * 48_000));
    await filter.end();
    const counted = await work.estimate(BY_TOKENS, filter.delivered(), null, tokenizer);
    expect(counted.output_tokens).toBe(125);
    const unreadable = await workOf().estimate(BY_TOKENS, { text: SOUND.toString('base64'), scale: 1 }, null, tokenizer);
    expect(unreadable.output_tokens).toBe(workOf().bound(BY_TOKENS).fixedOutputTokens);
  });

  test('is held with its instructions, and with more sound where it is to be slow', () => {
    const plain = workOf().bound(BY_TOKENS);
    expect(plain).toMatchObject({ fixedOutputTokens: 417 });
    expect(workOf({ instructions: 'i'.repeat(500) }).bound(BY_TOKENS).inputTokens).toBeGreaterThanOrEqual(plain.inputTokens + 500);
    expect(workOf({ speed: 0.25 }).bound(BY_TOKENS).fixedOutputTokens).toBe(1_042);
    expect(workOf({ speed: 4 }).bound(BY_TOKENS).fixedOutputTokens).toBe(417);
    expect(workOf().bound(BY_CHARACTERS)).toEqual({ inputTokens: 0, inputCharacters: 10 });
  });
});
