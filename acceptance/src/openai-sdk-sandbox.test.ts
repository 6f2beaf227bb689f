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
  gateway = await Gateway.start();
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

  test('shows usage in a stream to whom it was promised, and to nobody else', async () => {
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
