import { ChatCompletionRequest } from '@tallygate/contract';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { openAiFields } from '../../adapters/upstream/openai-request.ts';
import { loadCatalog } from '../../money/catalog/index.ts';
import { boundText, inputTokenBound, promptSize, promptText } from './input-bound.ts';
import { countTokensGuarded } from './token-count.ts';

const catalog = loadCatalog();
const modelOf = (id: string) => {
  const model = catalog.find(id);
  if (!model) throw new Error(`no model ${id}`);
  return model;
};
const gpt = modelOf('gpt-4o-mini');

const received = (value: unknown, body = JSON.stringify(value)) => {
  const request = ChatCompletionRequest.parse(JSON.parse(body));
  return { request, size: promptSize(request, Buffer.from(body)) };
};
const ask = (content: unknown, rest: object = {}) => ({ model: gpt.id, messages: [{ role: 'user', content }], ...rest });
const image = (url: string) => [{ type: 'image_url', image_url: { url } }];

beforeAll(() => countTokensGuarded('o200k_base', 'load the vocabulary'));

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('data:', 'data: text that looks like a data URL', '<|endoftext|>', '\\u0000\u0001\n\r\t"\\', '漢字😀e\u0301', '\ud800'),
);
/** Long enough that no allowance for templates hides a count that is too low. */
const repeated = fc
  .tuple(
    fc.array(fc.constantFrom('\n', '\t', '\r', '"', '\\', '\u0001', ' ', 'a', 'is', 'é', '漢', '/', '{', '.'), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.integer({ min: 100, max: 300 }),
  )
  .map(([units, times]) => units.join('').repeat(times));
const schema = fc.dictionary(text, fc.oneof(text, fc.double({ noNaN: true }), fc.constantFrom(1e20, 5e-324, -0, 1e21)), { maxKeys: 5 });
const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record({ name: fc.constant('f'), description: text, parameters: schema }),
});
const message = fc.record({
  role: fc.constantFrom('user', 'system'),
  content: fc.oneof(
    text,
    fc.array(
      text.map((one) => ({ type: 'text', text: one })),
      { maxLength: 3 },
    ),
  ),
});
const requests = fc.record({
  model: fc.constant(gpt.id),
  messages: fc.array(message, { minLength: 1, maxLength: 4 }),
  tools: fc.array(tool, { maxLength: 3 }),
});

/** JSON as a client may write it: every character escaped, numbers short. */
const spelled = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('100000000000000000000', '1e20')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

test('the bound is never below what the provider’s tokenizer makes of the prompt that goes out', async () => {
  await fc.assert(
    fc.asyncProperty(requests, fc.boolean(), async (value, isSpelled) => {
      const { request, size } = received(value, isSpelled ? spelled(value) : JSON.stringify(value));
      const out = JSON.parse(JSON.stringify(openAiFields({ ...CALL, request }, 'max_tokens'))) as { messages: unknown; tools: unknown };
      const strings = stringsIn(request.messages).join('');
      const tokens = await countTokensGuarded('o200k_base', strings + JSON.stringify(out.tools));
      expect(inputTokenBound(gpt, size)).toBeGreaterThanOrEqual(tokens);
    }),
    { numRuns: 200 },
  );
});

test('the counted bound is never below the text that the model reads, whatever is escaped in JSON', async () => {
  await fc.assert(
    fc.asyncProperty(requests, repeated, async (rest, long) => {
      const value = { ...rest, messages: [...rest.messages, { role: 'user', content: long }] };
      const { request, size } = received(value);
      const counted = await countTokensGuarded('o200k_base', promptText(request));
      const read = await Promise.all(
        stringsIn(request.messages.map(({ content }) => content)).map((one) => countTokensGuarded('o200k_base', one)),
      );
      expect(inputTokenBound(gpt, { ...size, textBytes: counted })).toBeGreaterThanOrEqual(read.reduce((sum, tokens) => sum + tokens, 0));
    }),
    { numRuns: 200 },
  );
});

const CALL = {
  endpoint: '/v1/chat/completions' as const,
  model: 'm',
  stream: false,
  maxOutputTokens: 16,
  firstByteTimeoutMs: 1,
  idleTimeoutMs: 1,
  signal: new AbortController().signal,
};

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

test('numbers that are short in the body and long in the prompt do not slip under the bound', async () => {
  const numbers = Array.from({ length: 500 }, () => '1e20').join();
  const body = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[${numbers}]}}}]}`;
  const { request, size } = received(undefined, body);
  expect(inputTokenBound(gpt, size)).toBeGreaterThanOrEqual(await countTokensGuarded('o200k_base', JSON.stringify(request.tools)));
});

test('text that begins like a data URL is counted as the text it is', () => {
  const { request } = received(ask(`data: ${'word '.repeat(1_000)}`));
  expect(promptText(request)).toContain('word word');
});

describe('images and files', () => {
  const inline = `data:image/png;base64,${'A'.repeat(100_000)}`;

  test('an inline image counts as an image, not as text', () => {
    const { request, size } = received(ask([{ type: 'text', text: 'what?' }, ...image(inline)]));
    expect(size).toMatchObject({ images: 1, isOpenEnded: false });
    expect(size.textBytes).toBeLessThan(300);
    expect(inputTokenBound(gpt, size)).toBe(size.textBytes + size.templateTokens + 48_169);
    expect(promptText(request)).not.toContain('AAAA');
  });

  test.each([
    ['a file', [{ type: 'file', file: { file_data: 'x' } }]],
    ['a video', [{ type: 'video_url', video_url: { url: 'https://a.test/v.mp4' } }]],
    ['a PDF as an image', image('data:application/pdf;base64,AAAA')],
    ['a data URL in odd writing', image('DATA:application/pdf;base64,AAAA')],
  ])('%s may fill the window, on top of the text', (_, content) => {
    const { size } = received(ask(content));
    expect(inputTokenBound(gpt, size)).toBe(size.textBytes + size.templateTokens + (gpt.contextWindow ?? 0));
  });

  test('an image for a model with no published bound may fill the window', () => {
    const blind = modelOf('deepseek-v4-pro');
    const { size } = received(ask(image('https://a.test/i.png')));
    expect(inputTokenBound(blind, size)).toBe(size.textBytes + size.templateTokens + (blind.contextWindow ?? 0));
  });

  test('a text is bound by its own length, not by the window that the catalogue names: whoever serves may take more, and bill it', () => {
    const { size } = received(ask('word '.repeat(300_000)));
    expect(inputTokenBound(gpt, size)).toBeGreaterThan(1_500_000);
  });

  test('fields that only some providers know are part of what a bound is counted on', () => {
    expect(boundText(received({ ...ask('hi'), documents: [{ text: 'a long document' }] }).request)).toContain('a long document');
  });
});

describe('audio inside of a chat', () => {
  const audio = { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'A'.repeat(40_000), format: 'wav' } }] };
  const boundOf = (audioTokens: number | undefined) => {
    const body = JSON.stringify({ model: gpt.id, messages: [audio] });
    return inputTokenBound(gpt, promptSize(ChatCompletionRequest.parse(JSON.parse(body)), Buffer.from(body), audioTokens));
  };

  test('is held by its tokens in place of its characters', () => {
    expect(boundOf(3_200) - boundOf(0)).toBe(3_200);
    expect(boundOf(0)).toBeLessThan(400);
  });

  test('that nobody could measure is held with the whole window', () => {
    expect(boundOf(undefined)).toBeGreaterThan(gpt.contextWindow ?? 0);
  });
});
