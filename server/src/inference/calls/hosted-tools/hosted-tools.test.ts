import { ResponseRequest } from '@tallygate/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { costBound, costOf, loadCatalog } from '../../../money/catalog/index.ts';
import { inputItems } from '../responses/response-input.ts';
import { responseWork } from '../responses/response-work.ts';
import { completeCall, streamCall } from '../serve.ts';
import { callOf, NOW, openInference, ScriptedAnswer, ScriptedProvider } from '../testing/inference.ts';

const MODEL = 'gpt-5.1';
const opened: ReturnType<typeof openInference>[] = [];
const open = (...answers: ScriptedAnswer[]) => {
  const provider = new ScriptedProvider(...answers);
  const world = openInference({ sandbox: provider });
  opened.push(world);
  return { world, provider };
};
afterEach(() => {
  for (const world of opened.splice(0)) world.close();
});

function workOf(body: object) {
  const request = ResponseRequest.parse({ model: MODEL, input: 'Say hello.', ...body });
  const items = inputItems(request);
  const bytes = Buffer.byteLength(JSON.stringify({ ...request, input: items }));
  return responseWork(request, { items, bytes, frame: { id: 'resp_1' }, requestSha256: () => 'x' });
}

const call = (body: object, options: Parameters<typeof callOf>[1] = {}) => ({ ...callOf({}, options), work: workOf(body) });

const TOOLS = [
  ...[{ type: 'web_search' }, { type: 'file_search', vector_store_ids: ['vs_1'] }],
  ...[
    { type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } },
    { type: 'image_generation', quality: 'low' },
  ],
  { type: 'mcp', server_label: 's', server_url: 'https://m.test/mcp' },
];
const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } };
const RUN = [
  ...[search, { ...search, id: 'ws_2' }, { ...search, id: 'ws_3', action: { type: 'open_page', url: 'https://a.test' } }],
  { id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['q'], results: null },
  ...['ci_1', 'ci_2'].map((id) => ({
    id,
    type: 'code_interpreter_call',
    status: 'completed',
    code: '1',
    container_id: 'cntr_1',
    outputs: null,
  })),
  { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aGk=' },
];
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
};
const TOKENS = { input_tokens: 40_000, output_tokens: 300, total_tokens: 40_300, input_tokens_details: { cached_tokens: 0 } };
const TOLD = {
  image_gen: { input_tokens: 60, input_tokens_details: { image_tokens: 50, text_tokens: 10 }, output_tokens: 272, total_tokens: 332 },
  web_search: { num_requests: 2 },
};
const response = (members: object = {}) => ({
  ...{ id: 'r', object: 'response', status: 'completed', output: [...RUN, MESSAGE], usage: TOKENS, ...members },
});
const plain = (members?: object) => new ScriptedAnswer([JSON.stringify(response(members))]);
const event = (data: { readonly type: string; readonly [member: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const begun = event({ type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } });
const done = [...RUN, MESSAGE].map((item, output_index) => event({ type: 'response.output_item.done', output_index, item }));

/** 40,000 × 1.25 + 300 × 10 USD per million; two searches, one of files, a container of 4 GB, and the image tool. */
const USED = {
  ...{ input_tokens: 40_000, output_tokens: 300, web_searches: 2, file_searches: 1, container_gigabytes: 4 },
  ...{ image_tool_text_input_tokens: 10, image_tool_image_input_tokens: 50, image_tool_image_output_tokens: 272 },
};
const COST = 50_000_000n + 3_000_000n + 20_000_000n + 2_500_000n + 120_000_000n + 50_000n + 400_000n + 8_160_000n;

const model = (() => {
  const found = loadCatalog().find(MODEL);
  if (!found) throw new Error(MODEL);
  return found;
})();

/** What is settled of a request with all tools that the provider answers so. */
async function settledOf(answer: ScriptedAnswer, body: object = {}) {
  const { world } = open(answer);
  const asked = call({ tools: TOOLS, ...body });
  if (asked.work.isStream) await streamCall(asked, world.openClient().res, world.deps);
  else await completeCall(asked, world.deps);
  const [settled] = await world.settled();
  if (!settled) throw new Error('nothing was settled');
  return settled.record;
}

describe('what tools of the provider used is settled to the nano-dollar', () => {
  test('as the provider counts it', async () => {
    const record = await settledOf(plain({ tool_usage: TOLD }));
    expect(record).toMatchObject({ outcome: 'completed', estimated: false, usage: USED, cost: `${COST}` });
  });

  test('by the items of the answer where the provider does not count, an image by its size', async () => {
    const { usage } = await settledOf(plain());
    const { image_tool_text_input_tokens: _, image_tool_image_input_tokens: __, ...others } = USED;
    expect(usage).toMatchObject({ ...others, image_tool_image_output_tokens: 408 });
  });

  test('of a stream, by its last event', async () => {
    const final = event({ type: 'response.completed', response: response({ tool_usage: TOLD }) });
    const record = await settledOf(new ScriptedAnswer([begun, ...done, final]), { stream: true });
    expect(record).toMatchObject({ outcome: 'completed', estimated: false, usage: USED, cost: `${COST}` });
  });

  test('of a stream that broke off, by the items that were done, each with another pass over the prompt', async () => {
    const { outcome, estimated, usage } = await settledOf(new ScriptedAnswer([begun, ...done.slice(0, 4)], 'reset'), { stream: true });
    expect({ outcome, estimated }).toEqual({ outcome: 'cut', estimated: true });
    expect(usage).toMatchObject({ web_searches: 2, file_searches: 1, container_gigabytes: 4 });
    const { deps } = open().world;
    const once = await workOf({ tools: TOOLS }).estimate(model, { text: '', scale: 1 }, 100, deps.tokenizer);
    expect(usage.input_tokens).toBe(5 * once.input_tokens);
  });

  test('of an answer that could not be read, its containers, which were made with the request', async () => {
    const { deps } = open().world;
    const usage = await workOf({ tools: TOOLS }).estimate(model, { text: '{"id":"r","obj', scale: 1 }, 100, deps.tokenizer);
    expect(usage).toMatchObject({ container_gigabytes: 4 });
  });

  test('of an answer that nobody kept, at the most that is held', () => {
    const { form } = workOf({ tools: TOOLS, max_tool_calls: 2 }).dialects[0];
    expect(form.usageIn(TOKENS)).toMatchObject({ input_tokens: 40_000, web_searches: 2, file_searches: 2, container_gigabytes: 4 });
  });
});

describe('the calls of tools that the provider runs', () => {
  const asked = async (body: object, monthlyCap: bigint | null) => {
    const { world, provider } = open(plain());
    await completeCall(call({ tools: [{ type: 'web_search' }], ...body }, { monthlyCap }), world.deps);
    return provider.calls[0]?.request as { max_tool_calls?: number };
  };

  test.each([
    ['as many as the caller allows', { max_tool_calls: 5 }, null, 5],
    ['eight where the caller does not say', {}, null, 8],
    ['as many as the cap holds where the caller does not say', { max_output_tokens: 100 }, 1_100_000_000n, 3],
    ['one where no more fit', { max_output_tokens: 100 }, 250_000_000n, 1],
  ])('are bounded by what the provider is told: %s', async (_, body, cap, calls) => {
    expect((await asked(body, cap)).max_tool_calls).toBe(calls);
  });

  test('are not told of where the caller runs all tools', async () => {
    expect(await asked({ tools: [{ type: 'function', name: 'f' }] }, null)).not.toHaveProperty('max_tool_calls');
  });

  test('are refused where the cap holds not even one, with what to lower', async () => {
    await expect(asked({}, 10_000_000n)).rejects.toMatchObject({
      code: 'budget_exceeded',
      message: expect.stringContaining('`max_tool_calls`'),
    });
  });

  test('have a bound of their own', () => {
    expect(() => workOf({ tools: [{ type: 'web_search' }], max_tool_calls: 1_001 })).toThrow('at most 1000');
  });
});

test.each([1, 3, 40])('what is held for %i calls covers the most that each of them can put into the input', (calls) => {
  const price = model.priceAt(NOW);
  if (!price) throw new Error('no price');
  const bound = workOf({ tools: [{ type: 'web_search' }], max_tool_calls: calls }).bound(model);
  const { fixed, perOutputToken } = costBound(price, bound);
  const [prompt, output] = [workOf({}).bound(model).inputTokens, 10_000];
  let input = 0;
  for (let pass = 0; pass <= calls; pass += 1)
    input += prompt + Math.min(128_000 * pass, model.contextWindow ?? 0) + (pass > 0 ? output : 0);
  const usage = { input_tokens: input, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: output, reasoning_tokens: 0 };
  const worst = costOf(price, { ...usage, web_searches: calls }).nanoUsd * 1_000n;
  const held = fixed + perOutputToken * BigInt(output);
  expect(held).toBeGreaterThanOrEqual(worst);
  expect(Number(held)).toBeLessThan(Number(worst) * 1.2);
});

test('a tool whose meter the model’s price does not name is refused with the command that names it', async () => {
  const { world } = open();
  await expect(completeCall(call({ model: 'claude-sonnet-4-6', tools: [{ type: 'web_search' }] }), world.deps)).rejects.toMatchObject({
    code: 'unpriced_feature',
    message: expect.stringContaining('--meter web_searches=USD'),
    extras: { param: 'tools[0]' },
  });
});

test('web_search and its preview are not in one request: their calls are told as one number', () => {
  expect(() => workOf({ tools: [{ type: 'web_search' }, { type: 'web_search_preview' }] })).toThrow('web_search and web_search_preview');
});

test('the image tool is sent with the model that its prices are of', async () => {
  const { world, provider } = open(plain());
  await completeCall(call({ tools: [{ type: 'image_generation' }] }), world.deps);
  expect(provider.calls[0]?.request).toMatchObject({ tools: [{ type: 'image_generation', model: 'gpt-image-2' }] });
});
