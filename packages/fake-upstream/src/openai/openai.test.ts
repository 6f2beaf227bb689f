import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeUpstream, startFakeUpstream, steps } from '../index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const post = (path: string, body: object) => fetch(`${fake.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
const json = async (path: string, body: object) => (await post(path, body)).json();
const events = async (path: string, body: object) =>
  (await (await post(path, { ...body, stream: true })).text())
    .split('\n\n')
    .filter((event) => event !== '' && !event.endsWith('[DONE]'))
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)));

describe('what OpenAI has beside chat', () => {
  it('answers completions, embeddings and moderations, one for each input', async () => {
    const completion = await json('/completions', { prompt: ['a', 'b'] });
    expect(completion).toMatchObject({ object: 'text_completion', usage: { prompt_tokens: 20, completion_tokens: 16 } });
    expect(completion.choices).toHaveLength(2);
    const streamed = await events('/completions', { prompt: 'a', max_tokens: 2 });
    expect(streamed.map(({ choices }) => choices[0]?.text)).toEqual(['tok0', ' tok1', '', undefined]);
    const vectors = await json('/embeddings', { input: ['a', 'b'], dimensions: 2 });
    expect(vectors.data[1]).toEqual({ object: 'embedding', index: 1, embedding: [Math.fround(Math.SQRT1_2), Math.fround(Math.SQRT1_2)] });
    expect(vectors.usage).toEqual({ prompt_tokens: 20, total_tokens: 20 });
    const packed = await json('/embeddings', { input: 'a', encoding_format: 'base64' });
    expect(Buffer.from(packed.data[0].embedding, 'base64').readFloatLE(12)).toBe(0.5);
    expect((await json('/moderations', { input: ['a', 'b'] })).results).toHaveLength(2);
  });

  it('answers responses, plain and as numbered events that end in the plain one, with calls that are demanded', async () => {
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: { city: { type: 'string' } } } }];
    for (const fields of [{}, { max_output_tokens: 3 }, { tools, tool_choice: 'required' }]) {
      const { id, ...plain } = await json('/responses', fields);
      const numbered = await events('/responses', fields);
      expect(numbered.map(({ sequence_number }) => sequence_number)).toEqual(numbered.map((_, index) => index));
      expect(numbered.at(-1).response).toMatchObject({ object: plain.object, status: plain.status, usage: plain.usage });
      expect(plain.status).toBe('max_output_tokens' in fields ? 'incomplete' : 'completed');
      expect(plain.output[0].type).toBe('tools' in fields ? 'function_call' : 'message');
    }
    fake.script(steps.errorMidStream(3));
    expect((await events('/responses', {})).at(-1)).toMatchObject({ type: 'error', sequence_number: 3 });
  });

  it('answers images, speech, transcriptions and videos with something of the right shape', async () => {
    expect(await json('/images/generations', { n: 2 })).toMatchObject({ data: [{}, {}], usage: { output_tokens: 544 } });
    expect((await events('/images/generations', { partial_images: 1 })).map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    const speech = await post('/audio/speech', { input: 'a' });
    expect([speech.headers.get('content-type'), (await speech.text()).slice(0, 3)]).toEqual(['audio/mpeg', 'ID3']);
    const { id, status } = await json('/videos', { prompt: 'a' });
    expect(status).toBe('queued');
    expect(await (await fetch(`${fake.url}/videos/${id}`)).json()).toMatchObject({ id, status: 'completed' });
    const derived = [
      await json(`/videos/${id}/remix`, { prompt: 'b' }),
      await json('/videos/edits', { prompt: 'b', video: { id } }),
      await json('/videos/extensions', { prompt: 'b', seconds: '8', video: { id } }),
    ];
    expect(derived.map((one) => [one.status, one.seconds, one.remixed_from_video_id])).toEqual([
      ['queued', '4', id],
      ['queued', '4', null],
      ['queued', '8', null],
    ]);
    expect(new Set([id, ...derived.map((one) => one.id)]).size).toBe(4);
    expect(await json('/videos/characters', { name: 'Ada' })).toMatchObject({ id: expect.stringMatching(/^char_/), name: 'Ada' });
    const content = await fetch(`${fake.url}/videos/${id}/content?variant=video`);
    expect(content.headers.get('content-type')).toBe('video/mp4');
    expect(await (await fetch(`${fake.url}/videos/${id}`, { method: 'DELETE' })).json()).toEqual({
      id,
      object: 'video.deleted',
      deleted: true,
    });
  });

  it('reads forms, and keeps their fields and files', async () => {
    const form = new FormData();
    form.append('model', 'whisper-1');
    form.append('include[]', 'a');
    form.append('include[]', 'grüße\r\n--b');
    form.append('file', new Blob([Buffer.from([0, 13, 10, 45, 45, 255])], { type: 'audio/wav' }), 'a b.wav');
    const answer = await fetch(`${fake.url}/audio/transcriptions`, { method: 'POST', body: form });
    expect(await answer.json()).toEqual({ text: 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7', usage: { type: 'duration', seconds: 10 } });
    expect(fake.requests[0]?.form).toEqual({
      fields: [
        ['model', 'whisper-1'],
        ['include[]', 'a'],
        ['include[]', 'grüße\r\n--b'],
      ],
      files: [{ field: 'file', filename: 'a b.wav', contentType: 'audio/wav', bytes: Buffer.from([0, 13, 10, 45, 45, 255]) }],
    });
    expect(fake.requests[0]?.body).toBeUndefined();
  });

  it('refuses what it cannot read, and takes scripts as chat does', async () => {
    expect((await fetch(`${fake.url}/embeddings`, { method: 'POST', body: '{' })).status).toBe(400);
    fake.script(steps.rateLimited({ seconds: 2 }));
    expect((await post('/embeddings', { input: 'a' })).status).toBe(429);
  });
});
