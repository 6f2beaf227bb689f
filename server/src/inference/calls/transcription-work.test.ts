import { Readable } from 'node:stream';
import { TranscriptionRequest, TranslationRequest } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import type { RecordingLength } from './recordings/length.ts';
import { countTokensGuarded } from './token-count.ts';
import { transcriptionWork, translationWork } from './transcription-work.ts';
import { unitsBound } from './units-bound.ts';
import { NO_USAGE } from './usage.ts';

const tokenizer = { count: countTokensGuarded, close: async () => {} };
const received = () => ({
  bytes: Buffer.alloc(0),
  sha256: () => 'x',
  files: [{ field: 'file', filename: 'a.opus', contentType: 'audio/ogg', bytes: 400, open: () => Readable.from([Buffer.alloc(400)]) }],
});
const recordings = (length: RecordingLength | undefined) => ({ lengthOf: async () => length, close: async () => {} });
const workOf = (fields: object, length: RecordingLength | undefined = { seconds: 61.2, mostSeconds: 90.5 }) =>
  transcriptionWork(TranscriptionRequest.parse({ model: 'whisper-1', ...fields }), received(), recordings(length));
const model = (id: string) => {
  const found = loadCatalog().find(id);
  if (!found) throw new Error(id);
  return found;
};
const answered = async (fields: object, body: unknown) => {
  const { dialects } = await workOf(fields);
  return dialects[0].form.read(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), 'application/json');
};

describe('a recording', () => {
  test('is held at the most that it can last, whatever its bytes are', async () => {
    expect((await workOf({})).bound(model('whisper-1')).audioSeconds).toBe(91);
  });

  test('is settled by the seconds that the provider tells, in either place', async () => {
    expect((await answered({}, { text: 'a', usage: { type: 'duration', seconds: 42 } }))?.usage).toMatchObject({ audio_seconds: 42 });
    const verbose = { text: 'a', duration: 41.2 };
    expect((await answered({ response_format: 'verbose_json' }, verbose))?.usage).toMatchObject({ audio_seconds: 42 });
  });

  test('is settled by its length where a model that is priced by the second tells tokens', async () => {
    const { dialects } = await workOf({ model: 'gpt-transcribe' });
    const read = (id: string) =>
      dialects
        .find(({ suits }) => suits?.(model(id), { readsGoogleFields: false }) ?? true)
        ?.form.read(Buffer.from('{"text":"a","usage":{"type":"tokens","input_tokens":612,"output_tokens":3}}'), 'application/json');
    expect((await read('gpt-transcribe'))?.usage).toMatchObject({ audio_seconds: 62 });
    expect((await read('gpt-4o-transcribe'))?.usage).toEqual({ ...NO_USAGE, input_tokens: 612, output_tokens: 3 });
  });

  test.each(['whisper-1', 'gpt-transcribe'])('takes no tokens of a quota where %s is priced by the second alone', async (id) => {
    const { bound, dialects } = await workOf({ model: id });
    expect(unitsBound([bound(model(id))])).toEqual({ units: { requests: 1n, tokens: 0n, audio_seconds: 91n } });
    const form = dialects.find(({ suits }) => suits?.(model(id), { readsGoogleFields: false }) ?? true)?.form;
    const told = { text: 'a', usage: { type: 'tokens', input_tokens: 612, output_tokens: 3 } };
    expect((await form?.read(Buffer.from(JSON.stringify(told)), 'application/json'))?.usage).toEqual({ ...NO_USAGE, audio_seconds: 62 });
  });

  test.each(['text', 'srt', 'vtt'])(
    'is settled by its decoded length where the answer (%s) has no place for usage',
    async (response_format) => {
      expect((await answered({ response_format }, 'Hello.'))?.usage).toBeUndefined();
      const work = await workOf({ response_format });
      expect(await work.estimate(model('whisper-1'), { text: 'Hello.', scale: 1 }, null, tokenizer)).toMatchObject({ audio_seconds: 62 });
    },
  );

  test('is held by the tokens of its sound where the model’s window is less than they are', async () => {
    const transcribe = model('gpt-4o-transcribe');
    const hour = await workOf({ model: transcribe.id }, { seconds: 3_600, mostSeconds: 3_600 });
    expect(hour.bound(transcribe).inputTokens).toBeGreaterThanOrEqual(36_000);
    const parts = await workOf({ model: transcribe.id, chunking_strategy: 'auto' }, { seconds: 3_600, mostSeconds: 3_600 });
    expect(parts.bound(transcribe).fixedOutputTokens).toBeGreaterThan(hour.bound(transcribe).fixedOutputTokens ?? 0);
    const estimate = await hour.estimate(transcribe, { text: 'Hello.', scale: 1 }, null, tokenizer);
    expect(estimate).toMatchObject({ input_tokens: 36_000, audio_input_tokens: 36_000 });
  });

  test('has its hints and the voices of its speakers in what is held', async () => {
    const known = { keywords: 'k'.repeat(3_000), known_speaker_references: `data:audio/wav;base64,${'A'.repeat(5_000)}` };
    const transcribe = model('gpt-4o-transcribe');
    const plain = (await workOf({ model: transcribe.id })).bound(transcribe).inputTokens;
    expect((await workOf({ model: transcribe.id, ...known })).bound(transcribe).inputTokens).toBeGreaterThan(plain + 8_000);
  });

  test('that cannot be read is refused, with what can be', async () => {
    const refusal = expect.objectContaining({
      code: 'validation_failed',
      message: expect.stringMatching(/^`file` cannot be read as a recording: send FLAC, MP3/),
      extras: expect.objectContaining({ param: 'file' }),
    });
    await expect(transcriptionWork(TranscriptionRequest.parse({ model: 'whisper-1' }), received(), recordings(undefined))).rejects.toEqual(
      refusal,
    );
    await expect(translationWork(TranslationRequest.parse({ model: 'whisper-1' }), received(), recordings(undefined))).rejects.toEqual(
      refusal,
    );
  });
});
