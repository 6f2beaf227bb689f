import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

/** A PNG of one pixel. */
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let gateway: Gateway;
let openai: OpenAI;

beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  const { base_url: baseURL, test_api_key: apiKey } = gateway.bootstrap;
  openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
});
afterAll(() => gateway?.remove());

describe('the OpenAI SDK with the key that the first boot made', () => {
  test('completes a chat, with what it cost in the usage', async () => {
    const completion = await openai.chat.completions.create(HELLO);
    expect(completion).toMatchObject({ object: 'chat.completion', model: MODEL, choices: [{ finish_reason: 'stop' }] });
    expect(completion.choices[0]?.message.content).toContain('Say hello.');
    expect(completion._request_id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(completion.usage).toMatchObject({ cost: expect.any(Number), total_tokens: expect.any(Number) });
  });

  test('streams the same words as it answers plainly', async () => {
    const plain = await openai.chat.completions.create(HELLO);
    const stream = openai.chat.completions.stream(HELLO);
    const deltas: string[] = [];
    stream.on('content', (delta) => deltas.push(delta));
    expect(await stream.finalContent()).toBe(plain.choices[0]?.message.content);
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join('')).toBe(plain.choices[0]?.message.content);
  });

  test('has usage in a stream only where it was requested', async () => {
    const usages = async (include_usage: boolean) => {
      const options = include_usage ? { stream_options: { include_usage } } : {};
      const chunks = await openai.chat.completions.create({ ...HELLO, stream: true, ...options });
      const seen: unknown[] = [];
      for await (const { usage, choices } of chunks) if (usage) seen.push({ usage, choices });
      return seen;
    };
    expect(await usages(false)).toEqual([]);
    expect(await usages(true)).toEqual([{ choices: [], usage: expect.objectContaining({ cost: expect.any(Number) }) }]);
  });

  test('calls tools until the answer is there', async () => {
    const runner = openai.chat.completions.runTools(
      {
        model: MODEL,
        messages: [{ role: 'user', content: 'What is the weather in Berlin?' }],
        tool_choice: 'required',
        tools: [
          {
            type: 'function',
            function: {
              name: 'get_weather',
              description: 'The weather in a city',
              parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
              parse: (text: string) => z.object({ city: z.string() }).parse(JSON.parse(text)),
              function: () => 'sunny, 21 °C',
            },
          },
        ],
      },
      { maxChatCompletions: 3 },
    );
    // A tool that must be called is called in every turn, so the loop ends at its bound.
    await runner.done().catch(() => {});
    const roles = runner.messages.map(({ role }) => role);
    expect(roles.slice(0, 3)).toEqual(['user', 'assistant', 'tool']);
  });

  test('answers with the result of a tool once it is there', async () => {
    const completion = await openai.chat.completions.create({
      model: MODEL,
      messages: [
        { role: 'user', content: 'What is the weather in Berlin?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Berlin"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny, 21 °C' },
      ],
      tools: [
        { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
      ],
    });
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.stringContaining('sunny, 21 °C') } });
  });

  test('parses an answer into the schema that was asked for', async () => {
    const Event = z.object({ name: z.string(), attendees: z.array(z.string()), day: z.enum(['monday', 'tuesday']) });
    const completion = await openai.chat.completions.parse({
      ...HELLO,
      response_format: zodResponseFormat(Event, 'event'),
    });
    expect(Event.safeParse(completion.choices[0]?.message.parsed).success).toBe(true);
  });

  test('sees an image', async () => {
    const completion = await openai.chat.completions.create({
      model: MODEL,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: PIXEL } },
          ],
        },
      ],
    });
    expect(completion.choices[0]?.message.content).toContain('image/png of 1 × 1 pixels');
  });

  test('gives as many choices as asked for, with log probabilities, ended by a stop sequence', async () => {
    const { choices } = await openai.chat.completions.create({
      ...HELLO,
      n: 3,
      logprobs: true,
      stop: ['sandbox'],
    });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const { message, logprobs } of choices) {
      expect(message.content).not.toContain('sandbox');
      expect(logprobs?.content?.map(({ token }) => token).join('')).toBe(message.content);
    }
  });

  test('keeps to the bound on tokens', async () => {
    const completion = await openai.chat.completions.create({ ...HELLO, max_completion_tokens: 5 });
    expect(completion).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 5 } });
  });
});

describe('the models', () => {
  test('are listed with their prices', async () => {
    const { data } = await openai.models.list();
    expect(data.find(({ id }) => id === MODEL)).toMatchObject({ object: 'model', owned_by: 'openai', pricing: { currency: 'USD' } });
  });

  test('are retrieved one by one', async () => {
    expect(await openai.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
    await expect(openai.models.retrieve('gpt-0')).rejects.toThrow(OpenAI.NotFoundError);
  });
});

describe('a request', () => {
  /** Every optional member, set to null. */
  const nulls = (...names: string[]) => Object.fromEntries(names.map((name) => [name, null]));
  const often = ['user', 'metadata', 'models'];
  const sampling = ['temperature', 'top_p', 'stream', 'stream_options', 'tools', 'tool_choice', 'parallel_tool_calls', 'service_tier'];
  const chat = [
    'stop',
    'n',
    'seed',
    'max_tokens',
    'max_completion_tokens',
    'response_format',
    'logit_bias',
    'logprobs',
    'store',
    'modalities',
  ];
  const responses = ['instructions', 'text', 'reasoning', 'include', 'previous_response_id', 'conversation', 'truncation', 'background'];
  const pictures = ['n', 'size', 'quality', 'background', 'output_format', 'stream', 'partial_images', 'response_format', 'style'];
  const question = { role: 'user', content: 'Hi.', name: null, tool_calls: null, tool_call_id: null };

  test.each<[string, object]>([
    ['/chat/completions', { model: MODEL, messages: [question], ...nulls(...often, ...sampling, ...chat) }],
    ['/responses', { model: MODEL, input: 'Hi.', ...nulls(...often, ...sampling, ...responses, 'max_output_tokens', 'store') }],
    ['/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi.', ...nulls('user', 'models', 'stop', 'suffix', 'best_of', 'echo') }],
    ['/embeddings', { model: 'text-embedding-3-small', input: 'Hi.', ...nulls('user', 'models', 'dimensions', 'encoding_format') }],
    ['/moderations', { model: 'omni-moderation-latest', input: 'Hi.', ...nulls('models') }],
    ['/images/generations', { model: 'gpt-image-1', prompt: 'A page', ...nulls('user', 'models', ...pictures) }],
    [
      '/audio/speech',
      { model: 'tts-1', input: 'Hi.', voice: 'alloy', ...nulls('instructions', 'response_format', 'speed', 'stream_format') },
    ],
    ['/videos', { model: 'sora-2', prompt: 'A page', ...nulls('user', 'seconds', 'size', 'characters', 'input_reference') }],
    ['/conversations', nulls('items', 'metadata')],
  ])('to %s may say null where it says nothing', async (path, body) => {
    await expect(openai.post(path, { body, __binaryResponse: path === '/audio/speech' })).resolves.toBeTruthy();
  });

  const BAD_REQUEST = OpenAI.BadRequestError;
  test.each<[string, string, object]>([
    ['a function without a name', '/chat/completions', { ...HELLO, tools: [{ type: 'function' }] }],
    ['a function with an empty name', '/chat/completions', { ...HELLO, tools: [{ type: 'function', function: { name: '' } }] }],
    ['a custom tool without a name', '/chat/completions', { ...HELLO, tools: [{ type: 'custom', custom: {} }] }],
    ['a function without a name', '/responses', { model: MODEL, input: 'Hi.', tools: [{ type: 'function', parameters: {} }] }],
    ['what is not known to include', '/responses', { model: MODEL, input: 'Hi.', include: ['everything'] }],
  ])('with %s is refused (%s)', async (_, path, body) => {
    await expect(openai.post(path, { body })).rejects.toBeInstanceOf(BAD_REQUEST);
  });

  test('with unknown values of include is refused by every operation that has it', async () => {
    const { id } = await openai.responses.create({ model: MODEL, input: 'Hi.' });
    const { id: conversation } = await openai.conversations.create({ items: [{ role: 'user', content: 'Hi.' }] });
    for (const path of [`/responses/${id}`, `/responses/${id}/input_items`, `/conversations/${conversation}/items`]) {
      await expect(openai.get(`${path}?include[]=everything`)).rejects.toBeInstanceOf(BAD_REQUEST);
      await expect(openai.get(`${path}?include[]=message.output_text.logprobs`)).resolves.toBeTruthy();
    }
  });

  test('to go on from what was never in a list is answered alike by all lists', async () => {
    const { id } = await openai.responses.create({ model: MODEL, input: 'Hi.' });
    const { id: conversation } = await openai.conversations.create();
    const { id: stored } = await openai.chat.completions.create({ ...HELLO, store: true });
    const inside = [`/responses/${id}/input_items`, `/conversations/${conversation}/items`, `/chat/completions/${stored}/messages`];
    for (const path of ['/files', '/batches', '/videos', '/chat/completions', ...inside]) {
      const answer = await openai.get(`${path}?after=nothing_of_that_name`).catch((error: unknown) => error);
      expect([path, answer]).toEqual([path, expect.objectContaining({ status: 404, code: 'not_found', param: 'after' })]);
    }
  });
});

test('every model has the time from which it is there', async () => {
  for await (const { id, created } of openai.models.list()) {
    expect([id, created]).toEqual([id, expect.any(Number)]);
    expect(created).toBeGreaterThan(Date.parse('2020-01-01') / 1000);
    expect(created).toBeLessThan(Date.now() / 1000);
  }
});
