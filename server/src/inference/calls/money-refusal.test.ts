import {
  ChatCompletionRequest,
  CompletionRequest,
  EmbeddingRequest,
  ImageGenerationRequest,
  ImageVariationRequest,
  ResponseRequest,
  SpeechRequest,
} from '@tallygate/contract';
import { expect, test } from 'vitest';
import type { Refused } from '../../adapters/lanes/port.ts';
import { chatWork } from './chat-work.ts';
import { completionWork } from './completion-work.ts';
import { embeddingWork } from './embedding-work.ts';
import { imageVariationWork, imageWork } from './image-work.ts';
import { moneyRefusal } from './money-refusal.ts';
import type { Received } from './operation.ts';
import { responseWork } from './responses/response-work.ts';
import { speechWork } from './speech-work.ts';
import type { Work } from './work.ts';

const received = (files: Received['files'] = []): Received => ({ bytes: Buffer.from('{}'), files, sha256: () => 'x' });
const NO_RECORDINGS = { lengthOf: async () => undefined, close: async () => {} };
const MESSAGES = [{ role: 'user', content: 'Hi.' }];
const chat = (fields: object) => chatWork(ChatCompletionRequest.parse({ model: 'm', messages: MESSAGES, ...fields }), received());
const refused: Refused = {
  held: false,
  lane: { id: 'key:k', source: 'key', cap: 10n, spent: 0n, held: 0n },
  lanes: [],
  required: 20n,
  resetsAt: null,
  mayFitLater: false,
};

test.each<[string, () => Work | Promise<Work>, string]>([
  ['a chat', () => chat({}), 'lower `max_tokens`, or shorten `messages`'],
  ['a chat with the newer bound', () => chat({ max_completion_tokens: 9 }), 'lower `max_completion_tokens`, or shorten `messages`'],
  ['a chat with choices', () => chat({ n: 3 }), 'lower `max_tokens` or `n`, or shorten `messages`'],
  [
    'a response',
    () =>
      responseWork(ResponseRequest.parse({ model: 'm', input: 'Hi.' }), {
        items: [{ role: 'user', content: 'Hi.' }],
        bytes: 100,
        frame: { id: 'r' },
        requestSha256: () => 'x',
      }),
    'lower `max_output_tokens`, or shorten `input`',
  ],
  [
    'a completion',
    () => completionWork(CompletionRequest.parse({ model: 'm', prompt: 'a', best_of: 3 }), received()),
    'lower `max_tokens`, `best_of`, or shorten `prompt`',
  ],
  ['an embedding', () => embeddingWork(EmbeddingRequest.parse({ model: 'm', input: 'a' }), received()), 'shorten `input`'],
  ['images', () => imageWork(ImageGenerationRequest.parse({ prompt: 'a' }), received()), 'lower `n`, `size` or `quality`'],
  ['variations', () => imageVariationWork(ImageVariationRequest.parse({}), received()), 'lower `n` or `size`'],
  [
    'speech',
    () => speechWork(SpeechRequest.parse({ model: 'm', input: 'a', voice: 'alloy' }), received(), NO_RECORDINGS),
    'shorten `input`',
  ],
])('a refusal over money says of %s what makes it cheaper', async (_, work, advice) => {
  const { cheaper } = await work();
  expect(moneyRefusal(refused, { cheaper, plans: { isSelling: true } }).message).toBe(
    `This request may cost up to 0.00000002 USD, which does not fit under the monthly cap of this API key: ${advice}, or raise the limit.`,
  );
});

test.each([
  [true, 'get a larger plan (POST /v1/plans/checkout)'],
  [false, 'ask the operator of this gateway for a larger plan'],
])('a refusal over the quota of a gateway that sells plans (%s) says how to get a larger one', (isSelling, cure) => {
  const meter = { meter: 'requests', cap: 1_000n, used: 1_000n, held: 0n, required: 1n };
  expect(moneyRefusal({ ...refused, meter }, { cheaper: '', plans: { isSelling } }).message).toBe(
    `Your plan includes 1000 requests a month, and none are left: ${cure}, or wait for the next month.`,
  );
});
