import { randomUUID } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Gateway } from './gateway.ts';
import { verifiedReceipt } from './ledger-audit.ts';

let gateway: Gateway;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  const { base_url: baseURL, test_api_key: apiKey } = gateway.bootstrap;
  openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
});
afterAll(() => gateway?.remove());

const IMAGE = { model: 'gpt-image-1', prompt: 'A ledger made of light', quality: 'low', size: '1024x1024' } as const;
const pngOf = (base64: string | undefined): Buffer => Buffer.from(base64 ?? '', 'base64');
const isPng = (bytes: Buffer): boolean =>
  bytes.subarray(1, 4).toString() === 'PNG' && bytes.readUInt32BE(16) === 1024 && bytes.readUInt32BE(20) === 1024;

describe('the older completions', () => {
  const ask = { model: 'gpt-3.5-turbo-instruct', prompt: 'Tell me of ledgers.', max_tokens: 40 };
  const withoutUsage = { headers: { 'X-Sandbox-Fault': 'no-usage' } };

  test('cost the output, also where its size is not reported', async () => {
    const [told, untold] = [await openai.completions.create(ask), await openai.completions.create(ask, withoutUsage)];
    const [exact = 0, estimated = 0] = [told, untold].map(({ usage }) => usage?.completion_tokens);
    expect(exact).toBeGreaterThan(10);
    expect(Math.abs(estimated - exact)).toBeLessThan(exact / 2);
  });

  test('cost what was written before the client hung up', async () => {
    const { data, response } = await openai.completions.create({ ...ask, stream: true }, withoutUsage).withResponse();
    let seen = 0;
    for await (const { choices } of data) {
      seen += choices[0]?.text ? 1 : 0;
      if (seen === 8) break;
    }
    await vi.waitFor(
      async () => {
        const { usage } = await openai.get<{ usage: { output_tokens: number } }>(`/requests/${response.headers.get('x-request-id')}`);
        expect(usage.output_tokens).toBeGreaterThanOrEqual(seen);
      },
      { timeout: 120_000, interval: 100 },
    );
  });
});

describe('text', () => {
  test('embeddings: floats and base64 are the same vectors, of unit norm and the length asked for', async () => {
    const ask = { model: 'text-embedding-3-small', input: ['alpha', 'beta'], dimensions: 256 };
    const decoded = await openai.embeddings.create(ask);
    const floats = await openai.embeddings.create({ ...ask, encoding_format: 'float' });
    for (const [index, { embedding }] of decoded.data.entries()) {
      expect(embedding).toHaveLength(256);
      expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
      floats.data[index]?.embedding.forEach((value, at) => {
        expect(value).toBeCloseTo(embedding[at] ?? Number.NaN, 6);
      });
    }
    expect(decoded.usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) });
  });

  test('completions: plain and streamed say the same, with the cost at the end', async () => {
    const ask = { model: 'gpt-3.5-turbo-instruct', prompt: 'Once upon a time', max_tokens: 12 };
    const plain = await openai.completions.create(ask);
    const chunks = [];
    for await (const chunk of await openai.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } }))
      chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(plain.choices[0]?.text);
    expect(chunks.at(-1)?.usage).toEqual(plain.usage);
    expect(plain).toMatchObject({ object: 'text_completion', choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 12 } });
  });

  test('moderations: free, one result for each input', async () => {
    const { results, model } = await openai.moderations.create({ input: ['one', 'two'] });
    expect([results.length, model]).toEqual([2, 'omni-moderation-latest']);
    expect(Object.keys(results[0]?.categories ?? {})).toHaveLength(13);
  });
});

describe('images', () => {
  test('are made, as many as asked for, and billed by their tokens', async () => {
    const { data, usage } = await openai.images.generate({ ...IMAGE, n: 2 });
    expect(data?.map(({ b64_json }) => isPng(pngOf(b64_json)))).toEqual([true, true]);
    expect(usage).toMatchObject({ output_tokens: 544, cost: expect.any(Number) });
  });

  test('are streamed with partial ones on the way', async () => {
    const types: string[] = [];
    for await (const event of await openai.images.generate({ ...IMAGE, stream: true, partial_images: 2 })) types.push(event.type);
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.partial_image', 'image_generation.completed']);
  });

  test('are edited from files', async () => {
    const made = await openai.images.generate(IMAGE);
    const image = () => toFile(pngOf(made.data?.[0]?.b64_json), 'a.png', { type: 'image/png' });
    const one = await openai.images.edit({ ...IMAGE, image: await image() });
    const two = await openai.images.edit({ ...IMAGE, image: [await image(), await image()] });
    expect(isPng(pngOf(one.data?.[0]?.b64_json))).toBe(true);
    expect(two.usage?.input_tokens_details.image_tokens).toBe(2 * (one.usage?.input_tokens_details.image_tokens ?? 0));
    const bytes = Buffer.concat([pngOf(made.data?.[0]?.b64_json), Buffer.alloc(1_000_000)]);
    const large = await openai.images.edit({ ...IMAGE, image: await toFile(bytes, 'a.png', { type: 'image/png' }) });
    expect(isPng(pngOf(large.data?.[0]?.b64_json))).toBe(true);
  });
});

test('a model that its provider has retired is refused with the name of what takes its place', async () => {
  const asked = openai.chat.completions.create({ model: 'claude-opus-4-1', messages: [{ role: 'user', content: 'Hi.' }] });
  await expect(asked).rejects.toThrow('was retired by its provider on 2026-08-05. Ask for claude-opus-4-8 in its place.');
});

describe('audio', () => {
  const speak = (response_format: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm') =>
    openai.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'The ledger sums to zero.', response_format });

  test.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
  ] as const)('is spoken as %s, with its cost before the first byte', async (format, type) => {
    const answer = await speak(format);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(400);
    // 24 characters at 15 USD a million.
    expect([answer.headers.get('content-type'), answer.headers.get('x-cost-usd')]).toEqual([type, '0.00036']);
  });

  test.each(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const)(
    'by tokens is the same sound as %s, whole or in events',
    async (format) => {
      const asked = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'The ledger sums to zero.', response_format: format } as const;
      const sound = Buffer.from(await (await speak(format)).arrayBuffer());
      const answer = await openai.audio.speech.create(asked);
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(sound);
      expect(answer.headers.get('content-type')).toMatch(/^audio\//);
      const events = (await (await openai.audio.speech.create({ ...asked, stream_format: 'sse' })).text())
        .split('\n')
        .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
      expect(Buffer.concat(events.map(({ audio }) => Buffer.from(audio ?? '', 'base64')))).toEqual(sound);
      const { usage } = events.at(-1);
      // 0.60 USD a million tokens in, and 12 out.
      expect(usage.cost).toBeCloseTo((usage.input_tokens * 0.6 + usage.output_tokens * 12) / 1e6, 9);
      expect(usage.output_tokens).toBeGreaterThan(10);
    },
  );

  test('is written down again, in every format', async () => {
    const bytes = Buffer.from(await (await speak('wav')).arrayBuffer());
    const hear = async <F extends 'json' | 'verbose_json' | 'text' | 'srt' | 'vtt'>(response_format: F) =>
      openai.audio.transcriptions.create({
        model: 'whisper-1',
        file: await toFile(bytes, 'a.wav', { type: 'audio/wav' }),
        response_format,
      });
    const { text } = await hear('json');
    expect(text).toBe('The ledger sums to zero.');
    expect(await hear('text')).toBe(`${text}\n`);
    expect(await hear('srt')).toContain(`00:00:00,000 --> `);
    expect(await hear('vtt')).toMatch(/^WEBVTT/);
    expect(await hear('verbose_json')).toMatchObject({ text, language: 'english', segments: [{ id: 0, text: expect.any(String) }] });
    const translated = await openai.audio.translations.create({ model: 'whisper-1', file: await toFile(bytes, 'a.wav') });
    expect(translated.text).toBe(text);
  });

  test('is written down as it is heard', async () => {
    const file = await toFile(Buffer.from(await (await speak('wav')).arrayBuffer()), 'a.wav');
    let text = '';
    let done: unknown;
    for await (const event of await openai.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file, stream: true })) {
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.done') done = event;
    }
    expect(done).toMatchObject({ text, usage: { type: 'tokens', cost: expect.any(Number) } });
  });

  test('is transcribed once under an idempotency key, with any form boundary', async () => {
    const bytes = Buffer.from(await (await speak('wav')).arrayBuffer());
    const headers = { 'Idempotency-Key': randomUUID() };
    const hear = async (name: string) =>
      openai.audio.transcriptions
        .create({ model: 'whisper-1', file: await toFile(bytes, name, { type: 'audio/wav' }) }, { headers })
        .asResponse();
    const [first, second] = [await hear('a.wav'), await hear('a.wav')];
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-receipt-id')).toBe(first.headers.get('x-receipt-id'));
    await expect(hear('b.wav')).rejects.toMatchObject({ status: 409, code: 'idempotency_conflict' });
  });

  test('costs input and output, also where the format has no usage', async () => {
    const file = await toFile(Buffer.from(await (await speak('wav')).arrayBuffer()), 'a.wav');
    const hear = async (response_format: 'json' | 'text') =>
      openai.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file, response_format }).asResponse();
    const [told, untold] = [await hear('json'), await hear('text')];
    const [exact, estimated] = [told, untold].map(({ headers }) => Number(headers.get('x-cost-usd')));
    expect(estimated).toBeGreaterThan((exact ?? 0) / 10);
    expect(estimated).toBeLessThan((exact ?? 0) * 10);
  });

  test('is refused without a recording, and if the body is not a form', async () => {
    await expect(openai.post('/audio/transcriptions', { body: { model: 'whisper-1' } })).rejects.toMatchObject({ status: 415 });
    const form = new FormData();
    form.append('model', 'whisper-1');
    await expect(openai.post('/audio/transcriptions', { body: form })).rejects.toMatchObject({ status: 400, param: 'file' });
  });
});

test('every modality leaves a receipt whose cost anybody can compute again', async () => {
  const answers = [
    openai.embeddings.create({ model: 'text-embedding-3-small', input: 'x' }).asResponse(),
    openai.images.generate(IMAGE).asResponse(),
    openai.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hi.' }).asResponse(),
    openai.moderations.create({ input: 'x' }).asResponse(),
  ];
  for (const answer of await Promise.all(answers)) {
    await answer.arrayBuffer();
    const payload = () => verifiedReceipt(gateway, answer.headers.get('x-receipt-id') ?? '');
    // It appears a moment after the answer.
    await expect.poll(payload).toMatchObject({ kind: 'usage', outcome: 'completed', livemode: false });
  }
});
