import { ResponseRequest } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAiCompatible } from '../../adapters/upstream/openai-compatible.ts';
import { newReceiptId } from '../../kernel/ids.ts';
import { loadCatalog } from '../../money/catalog/index.ts';
import { Deployments } from './deployments.ts';
import { inputItems } from './responses/response-input.ts';
import { responseWork } from './responses/response-work.ts';
import { completeCall } from './serve.ts';
import { callOf, NOW, openInference, ScriptedProvider } from './testing/inference.ts';

/** A provider that bills thought beside the bound on tokens out never bills more than was held. */

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());

const BUDGET = 5_000;
const prices = [{ usd_per_million: { input_tokens: '0', output_tokens: '1' }, cited: null }];
const catalog = loadCatalog([
  { id: 'qwen', definition: { thinking_tokens: BUDGET, max_output_tokens: 1_000, context_window: 100_000 }, prices },
  { id: 'other', definition: { max_output_tokens: 1_000, context_window: 100_000 }, prices },
]);

async function asked(body: object, model = 'qwen', responses?: object) {
  fake.reset();
  const opened = openInference({ balance: 1_000_000_000_000n, timeoutMs: 60_000 });
  const upstream = openAiCompatible({ name: 'fake', baseUrl: fake.url });
  const deployment = { name: 'fake#1', provider: 'fake', upstream, upstreamModel: model, countsLikeMaker: true, weight: 1 };
  const deployments = new Deployments(
    new Map([[model, [{ ...deployment, onCancel: 'keeps_billing' as const }]]]),
    new ScriptedProvider(),
    () => 0.5,
  );
  const call = callOf({ model, max_completion_tokens: 100, ...body }, { livemode: true });
  const request = ResponseRequest.parse({ model, input: 'Say hello.', max_output_tokens: 100, ...responses });
  const frame = { id: 'resp_1', previous_response_id: null, store: false, metadata: {} };
  const work = responses ? responseWork(request, { items: inputItems(request), bytes: 100, frame, requestSha256: () => 'x' }) : call.work;
  try {
    await completeCall({ ...call, receiptId: newReceiptId(NOW), work }, { ...opened.deps, catalog, deployments });
    const [entry] = await opened.settled();
    return { held: Number(entry?.record.held) / 1_000, sent: fake.requests[0]?.body as Record<string, unknown> };
  } finally {
    opened.close();
    await upstream.close();
  }
}

test.each([
  ['nothing', {}, BUDGET],
  ['less', { thinking_budget: 200 }, 200],
  ['more', { thinking_budget: 90_000 }, BUDGET],
  ['none', { thinking_budget: 0 }, BUDGET],
  ['no thought', { enable_thinking: false }, BUDGET],
])('of a caller who asks for %s, the budget of thought is held and sent', async (_, body, budget) => {
  const { held, sent } = await asked(body);
  expect(held).toBe(100 + budget);
  expect(sent).toMatchObject({ max_completion_tokens: 100, thinking_budget: budget });
});

test('each choice thinks for itself', async () => {
  const { held } = await asked({ n: 3, thinking_budget: 200 });
  expect(held).toBe(3 * 300);
});

test('a response that is made of a chat is held with all of it, and bounded by it', async () => {
  const { held, sent } = await asked({}, 'qwen', { thinking_budget: 200 });
  expect(held).toBe(100 + BUDGET);
  expect(sent).toMatchObject({ thinking_budget: BUDGET });
});

test('of a model whose thought is within the bound nothing more is held, and the budget is the caller’s', async () => {
  const { held, sent } = await asked({ thinking_budget: 200 }, 'other');
  expect(held).toBe(100);
  expect(sent).toMatchObject({ thinking_budget: 200 });
});
