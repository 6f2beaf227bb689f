import type { SpeechRequest, TranscriptionRequest } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileOf } from '../testing/files.ts';
import { sandboxAt } from '../testing/sandbox.ts';

const speech = sandboxAt('/v1/audio/speech', { model: 'tts-1', maxOutputTokens: null }, (call) => call);
const transcriptions = sandboxAt('/v1/audio/transcriptions', { model: 'gpt-4o-transcribe', maxOutputTokens: null }, (call) => call);
const translations = sandboxAt('/v1/audio/translations', { model: 'whisper-1', maxOutputTokens: null }, (call) => call);

const TEXT = 'The ledger sums to zero, and "so" does every posting. Grüße 👋! A third sentence, so that there is something to hear.';
const spoken: SpeechRequest = { model: 'tts-1', input: TEXT, voice: 'alloy' };
const wav = (fields: Partial<SpeechRequest> = {}) => speech.bytes({ ...spoken, response_format: 'wav', ...fields });
const secondsOfWav = (bytes: Buffer) => (bytes.length - bytes.indexOf('data') - 8) / 48_000;
const hear = async (fields: Partial<TranscriptionRequest> = {}, overrides: Parameters<typeof transcriptions.json>[1] = {}) =>
  transcriptions.bytes({ model: 'x', ...fields }, { files: [fileOf('file', await wav(), 'a.wav')], ...overrides });
const hearJson = async (...asked: Parameters<typeof hear>) => JSON.parse((await hear(...asked)).toString());

describe('speech of the sandbox', () => {
  it('as WAV says how long it is, in every size that its header has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 200 }), fc.double({ min: 0.25, max: 4, noNaN: true }), async (input, speed) => {
        const bytes = await wav({ input, speed });
        expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4), bytes.toString('latin1', 8, 16)]).toEqual([
          'RIFF',
          bytes.length - 8,
          'WAVEfmt ',
        ]);
        expect([20, 22].map((at) => bytes.readUInt16LE(at)).concat(bytes.readUInt32LE(24))).toEqual([1, 1, 24_000]);
        const list = bytes.indexOf('LIST');
        const data = list + 8 + bytes.readUInt32LE(list + 4);
        expect(bytes.toString('latin1', data, data + 4)).toBe('data');
        expect(bytes.readUInt32LE(data + 4)).toBe(bytes.length - data - 8);
      }),
      { numRuns: 30 },
    );
  });

  it('lasts as long as a voice would take, and less at a higher speed', async () => {
    const [normal, fast] = [secondsOfWav(await wav()), secondsOfWav(await wav({ speed: 2 }))];
    expect(normal).toBeGreaterThan(TEXT.length / 20);
    expect(normal).toBeLessThan(TEXT.length / 10);
    expect(fast).toBeCloseTo(normal / 2, 0);
  });

  it('as MP3 is frame after frame, each 24 ms', async () => {
    const bytes = await speech.bytes(spoken);
    const start = 10 + bytes.readUInt8(9) + (bytes.readUInt8(8) << 7);
    for (let at = start; at < bytes.length; at += 96) expect(bytes.readUInt32BE(at).toString(16)).toBe('fff344c4');
    expect(((bytes.length - start) / 96) * 0.024).toBeCloseTo(secondsOfWav(await wav()), 5);
  });

  it('as AAC and Opus is frame after frame too', async () => {
    const aac = await speech.bytes({ ...spoken, response_format: 'aac' });
    for (let at = 10 + aac.readUInt8(9) + (aac.readUInt8(8) << 7); at < aac.length; at += 11) expect(aac.readUInt16BE(at)).toBe(0xfff1);
    const opus = await speech.bytes({ ...spoken, response_format: 'opus' });
    let pages = 0;
    for (let at = 0; at < opus.length; pages += 1) {
      expect([opus.toString('latin1', at, at + 4), opus.readUInt32LE(at + 18)]).toEqual(['OggS', pages]);
      const segments = opus.subarray(at + 27, at + 27 + opus.readUInt8(at + 26));
      at += 27 + segments.length + segments.reduce((sum, bytes) => sum + bytes, 0);
    }
    expect(pages).toBe(2 + Math.ceil(5 * (secondsOfWav(await wav()) + 312 / 48_000)));
  });

  it('as PCM is the samples of the WAV', async () => {
    const whole = await wav();
    expect((await speech.bytes({ ...spoken, response_format: 'pcm' })).equals(whole.subarray(whole.indexOf('data') + 8))).toBe(true);
  });

  it.each(['mp3', 'wav', 'flac', 'opus', 'aac'] as const)('as %s is transcribed word by word, with its length', async (response_format) => {
    const answer = await speech.answer({ ...spoken, response_format });
    const files = [fileOf('file', await answer.collect(1e8))];
    const { text, duration } = await translations.json({ model: 'whisper-1', response_format: 'verbose_json' }, { files });
    expect(text).toBe(TEXT);
    expect(duration).toBeCloseTo(secondsOfWav(await wav()), response_format === 'aac' ? -2 : 1);
  });

  it('as events is the same audio, and then the usage', async () => {
    const events = await speech.events({ ...spoken, stream_format: 'sse' });
    const last = events.pop()?.data;
    expect(Buffer.concat(events.map(({ data }) => Buffer.from(data.audio, 'base64'))).equals(await speech.bytes(spoken))).toBe(true);
    expect(new Set(events.map(({ data }) => data.type))).toEqual(new Set(['speech.audio.delta']));
    expect(await speech.bytes(spoken, { stream: true })).toEqual(await speech.bytes(spoken));
    expect(last).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    expect(last.usage.total_tokens).toBe(last.usage.input_tokens + last.usage.output_tokens);
  });

  it('breaks off and fails where that fault is asked for', async () => {
    await expect(speech.bytes(spoken, { sandboxFault: 'cut' })).rejects.toMatchObject({ reason: 'reset' });
    expect(await speech.json(spoken, { sandboxFault: 'error-event' })).toHaveProperty('error.code', 'sandbox_fault');
  });
});

describe('transcriptions of the sandbox', () => {
  it('count tokens of sound, or seconds for whisper', async () => {
    const seconds = secondsOfWav(await wav());
    expect(await hearJson()).toEqual({
      text: TEXT,
      usage: {
        type: 'tokens',
        input_tokens: Math.ceil(seconds * 10),
        input_token_details: { text_tokens: 0, audio_tokens: Math.ceil(seconds * 10) },
        output_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
      },
    });
    expect((await hearJson({}, { model: 'whisper-1' })).usage).toEqual({ type: 'duration', seconds: Math.ceil(seconds) });
    expect(await hearJson({}, { sandboxFault: 'no-usage' })).not.toHaveProperty('usage');
  });

  it('are told as text, subtitles and captions', async () => {
    expect((await hear({ response_format: 'text' })).toString()).toBe(`${TEXT}\n`);
    expect((await hear({ response_format: 'srt' })).toString()).toMatch(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nThe ledger .*\n\n2\n/);
    expect((await hear({ response_format: 'vtt' })).toString()).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nThe ledger/);
  });

  it('are told with segments of ten members, and words where they are asked for, in order and within the recording', async () => {
    const body = await hearJson({ response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] });
    expect(body).toMatchObject({ task: 'transcribe', language: 'english', text: TEXT });
    for (const segment of body.segments) {
      expect(Object.keys(segment)).toEqual([
        'id',
        'seek',
        'start',
        'end',
        'text',
        'tokens',
        'temperature',
        'avg_logprob',
        'compression_ratio',
        'no_speech_prob',
      ]);
    }
    expect(body.words.map(({ word }: { word: string }) => word).join(' ')).toBe(TEXT);
    for (const stretches of [body.words, body.segments]) {
      let last = 0;
      for (const { start, end } of stretches) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThanOrEqual(start);
        last = end;
      }
      expect(last).toBeCloseTo(body.duration, 1);
    }
    const segmentsOnly = await hearJson({ response_format: 'verbose_json' });
    expect(segmentsOnly).toHaveProperty('segments');
    expect(segmentsOnly).not.toHaveProperty('words');
  });

  it('tell speakers apart, by the names that are known', async () => {
    const { segments } = await hearJson({ response_format: 'diarized_json', known_speaker_names: ['Ada', 'Bob'] });
    expect(segments.map(({ id, speaker, type }: Record<string, string>) => [id, speaker, type])).toEqual([
      ['seg_000', 'Ada', 'transcript.text.segment'],
      ['seg_001', 'Bob', 'transcript.text.segment'],
      ['seg_002', 'Ada', 'transcript.text.segment'],
    ]);
  });

  it('are streamed word by word, then whole', async () => {
    const files = [fileOf('file', await wav())];
    const events = (await transcriptions.events({ model: 'x', include: ['logprobs'] }, { files })).map(({ data }) => data);
    const last = events.pop();
    expect(events.map(({ delta }) => delta).join('')).toBe(TEXT);
    expect(last).toMatchObject({ type: 'transcript.text.done', text: TEXT, usage: { type: 'tokens' } });
    expect(events.flatMap(({ logprobs }) => logprobs)).toEqual(last.logprobs);
    const diarized = await transcriptions.events({ model: 'x', response_format: 'diarized_json' }, { files });
    expect(diarized.filter(({ data }) => data.type === 'transcript.text.segment')).toHaveLength(3);
  });

  it('of a recording from elsewhere say how long it is, whatever its bytes are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 400 }),
        fc.constantFrom('', 'RIFF\0\0\0\0WAVE', 'fLaC', 'OggS', 'ID3', 'mvhd'),
        async (noise, magic) => {
          const bytes = Buffer.concat([Buffer.from(magic, 'latin1'), noise]);
          const body = await transcriptions.json({ model: 'x' }, { files: [fileOf('file', bytes, 'voice.bin')] });
          expect(body.text).toContain('voice.bin');
          expect(body.usage.input_tokens).toBeGreaterThanOrEqual(0);
          // A header may lie: no recording is longer than what holds money for it reckons with.
          expect(body.usage.input_tokens).toBeLessThanOrEqual(Math.ceil((bytes.length / 250) * 10));
        },
      ),
    );
    const movie = Buffer.concat([
      Buffer.from('\0\0\0\x18ftypM4A ', 'latin1'),
      Buffer.from('6d766864000000000000000000000000000003e8000030d4', 'hex'),
      Buffer.alloc(4000),
    ]);
    expect((await transcriptions.json({ model: 'x', response_format: 'verbose_json' }, { files: [fileOf('file', movie)] })).duration).toBe(
      12.5,
    );
  });

  it('are refused without a recording', async () => {
    expect(await transcriptions.ask({ model: 'x' })).toMatchObject({ kind: 'rejected', param: 'file' });
    expect(await transcriptions.ask({ model: 'x' }, { files: [fileOf('file', Buffer.alloc(0))] })).toMatchObject({ param: 'file' });
  });
});
