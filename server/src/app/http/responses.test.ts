import { verifyReceipt } from '@tallygate/receipts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { loadCatalog } from '../../money/catalog/index.ts';
import { MovableClock, newKey, send, signUp } from './testing/account-api.ts';
import { chat, type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

let world: InferenceWorld;
let auth: Record<string, string>;
let otherAuth: Record<string, string>;
let session: Awaited<ReturnType<typeof signUp>>;
const clock = new MovableClock();
beforeAll(async () => {
  world = await openInferenceWorld(clock, { chunkDelayMs: 5 });
  session = await signUp(world.account);
  ({ auth } = await newKey(world.account, session.auth, { livemode: false }));
  ({ auth: otherAuth } = await newKey(world.account, (await signUp(world.account)).auth, { livemode: false }));
});
afterAll(() => world?.close());

const MODEL = 'gpt-4o-mini';
const create = async (body: object, headers = auth) => {
  const answer = await chat(world, headers, { model: MODEL, input: 'Say hello.', ...body }, '/v1/responses');
  return answer;
};
const created = async (body: object, headers = auth) => {
  const { status, body: response } = await create(body, headers);
  expect(response).toMatchObject({ object: 'response' });
  expect(status).toBe(200);
  return response;
};
const at = (path: string, options: Parameters<typeof send>[2] = {}) => send(world.account, path, { headers: auth, ...options });
const eventsOf = (text: string) =>
  text.split('\n\n').flatMap((event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1];
    return data === undefined ? [] : [JSON.parse(data)];
  });
const streamed = async (path: string, headers = auth) => {
  const answer = await fetch(`http://${world.authority}${path}`, { headers });
  return { status: answer.status, events: answer.ok ? eventsOf(await answer.text()) : [] };
};
const textOf = (response: { output: { type: string; content: { text: string }[] }[] }) =>
  response.output
    .filter(({ type }) => type === 'message')
    .map(({ content }) => content[0]?.text)
    .join('');

test.each(loadCatalog().models.flatMap(({ id, kind }) => (kind === 'chat' ? [id] : [])))('%s answers a response', async (model) => {
  expect(await created({ model, store: false })).toMatchObject({ model, status: 'completed' });
});

/** Of what a background response still has to ask. */
async function requestIdOf(id: string): Promise<string | undefined> {
  const { rows } = await world.database.pool.query('select request from stored_responses where id = $1', [id]);
  const request: { requestId: string } | null = await world.content.openJson(
    session.accountId,
    `request of response ${id}`,
    rows[0].request,
  );
  return request?.requestId;
}

describe('a stored response', () => {
  test('is read as it was answered, and is gone once it is deleted', async () => {
    const response = await created({ metadata: { topic: 'demo' } });
    const read = await at(`/v1/responses/${response.id}`);
    expect(read.body).toEqual(response);
    expect((await at(`/v1/responses/${response.id}`, { method: 'DELETE' })).body).toEqual({
      id: response.id,
      object: 'response',
      deleted: true,
    });
    expect((await at(`/v1/responses/${response.id}`)).status).toBe(404);
    expect((await create({ previous_response_id: response.id })).status).toBe(404);
  });

  test('of another account is answered exactly as a missing one, by every operation', async () => {
    const { id } = await created({});
    for (const path of [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`]) {
      const [theirs, none] = [await at(path, { headers: otherAuth }), await at(path.replace(id, 'resp_none'), { headers: otherAuth })];
      expect([theirs.status, theirs.body.detail]).toEqual([404, none.body.detail]);
    }
    expect((await at(`/v1/responses/${id}`, { headers: otherAuth, method: 'DELETE' })).status).toBe(404);
    expect((await at(`/v1/responses/${id}/cancel`, { headers: otherAuth, method: 'POST' })).status).toBe(404);
    expect((await create({ previous_response_id: id }, otherAuth)).status).toBe(404);
    expect((await streamed(`/v1/responses/${id}?stream=true`, otherAuth)).status).toBe(404);
    expect((await at(`/v1/responses/${id}`)).status).toBe(200);
  });

  test('lists its input, each item with an id, page by page', async () => {
    const input = ['one', 'two', 'three'].map((content) => ({ role: 'user', content }));
    const { id } = await created({ input });
    const text = (words: string) => ({ type: 'input_text', text: words });
    const first = await at(`/v1/responses/${id}/input_items?limit=2&order=asc`);
    expect(first.body).toMatchObject({ object: 'list', has_more: true, data: [{ content: [text('one')] }, { content: [text('two')] }] });
    const rest = await at(`/v1/responses/${id}/input_items?limit=2&order=asc&after=${first.body.last_id}`);
    expect(rest.body).toMatchObject({ has_more: false, data: [{ content: [text('three')], id: expect.stringMatching(/^msg_/) }] });
    expect((await at(`/v1/responses/${id}/input_items`)).body.data[0].content).toEqual([text('three')]);
  });

  test('keeps its input in OpenAI’s full shape, however shortly it was written', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c1', output: 'Sun.' };
    const input = [{ role: 'user', content: 'Weather?' }, { role: 'assistant', content: 'One moment.' }, call, output];
    const { id } = await created({ input });
    const said = { type: 'message', status: 'completed', id: expect.stringMatching(/^msg_/) };
    expect((await at(`/v1/responses/${id}/input_items?order=asc`)).body.data).toEqual([
      { ...said, role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      { ...said, role: 'assistant', content: [{ type: 'output_text', text: 'One moment.', annotations: [], logprobs: [] }] },
      { ...call, status: 'completed', id: expect.stringMatching(/^fc_/) },
      { ...output, status: 'completed', id: expect.stringMatching(/^fco_/) },
    ]);
  });

  test.each([
    ['a type that there is none of', { type: 'poem', text: 'x' }, 'input[0].type'],
    ['a role that there is none of', { role: 'king', content: 'x' }, 'input[0].role'],
    ['no role', { type: 'message', content: 'x' }, 'input[0].role'],
    ['no content', { role: 'user' }, 'input[0].content'],
    ['a part without a type', { role: 'user', content: [{ text: 'x' }] }, 'input[0].content[0].type'],
    ['a text without words', { role: 'user', content: [{ type: 'input_text' }] }, 'input[0].content[0].text'],
    ['a call without a name', { type: 'function_call', call_id: 'c1', arguments: '{}' }, 'input[0].name'],
    ['an output of no call', { type: 'function_call_output', output: 'x' }, 'input[0].call_id'],
  ])('takes no item with %s', async (_, item, param) => {
    expect(await create({ input: [item] })).toMatchObject({ status: 400, body: { error: { param } } });
    const { body } = await at('/v1/conversations', { json: {} });
    const items = { json: { items: [item] } };
    const refused = { status: 400, body: { error: { param: param.replace('input', 'items') } } };
    expect(await at(`/v1/conversations/${body.id}/items`, items)).toMatchObject(refused);
    expect(await at('/v1/conversations', items)).toMatchObject(refused);
  });

  test('that is deleted is forgotten by those that came after it, with the outputs of its calls', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' };
    const first = await created({ input: [{ role: 'user', content: 'Weather?' }, call] });
    const output = { type: 'function_call_output', call_id: 'c1', output: 'Sun.' };
    const second = await created({ input: [output, { role: 'user', content: 'Go on.' }], previous_response_id: first.id });
    const count = async () => (await at('/v1/responses/input_tokens', { json: { model: MODEL, previous_response_id: second.id } })).body;
    const before = await count();
    await at(`/v1/responses/${first.id}`, { method: 'DELETE' });
    expect((await count()).input_tokens).toBeLessThan(before.input_tokens - 10);
    expect((await create({ previous_response_id: second.id })).status).toBe(200);
  });

  test('with store: false is not stored', async () => {
    const { id } = await created({ store: false });
    expect((await at(`/v1/responses/${id}`)).status).toBe(404);
  });

  test('expires after thirty days', async () => {
    const { id } = await created({});
    clock.offsetMs = 31 * 24 * 3600 * 1000;
    const status = (await at(`/v1/responses/${id}`)).status;
    clock.offsetMs = 0;
    expect(status).toBe(404);
  });

  test('is replayed as events, the same at every time, from any place', async () => {
    const response = await created({});
    const { events } = await streamed(`/v1/responses/${response.id}?stream=true`);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map(({ type }) => type).slice(0, 3)).toEqual(['response.created', 'response.in_progress', 'response.output_item.added']);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id: response.id, output: response.output } });
    const later = await streamed(`/v1/responses/${response.id}?stream=true&starting_after=3`);
    expect(later.events).toEqual(events.slice(4));
  });

  test('cannot be cancelled where it never was in the background', async () => {
    const { id } = await created({});
    expect(await at(`/v1/responses/${id}/cancel`, { method: 'POST' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });
});

describe('the stream of a stored response', () => {
  const stream = async (headers = auth) => {
    const body = { model: MODEL, input: 'Say hello, please, to all the world and its moons.', stream: true };
    return eventsOf((await chat(world, headers, body, '/v1/responses')).text);
  };
  const replayed = async (id: string, after?: number) =>
    (await streamed(`/v1/responses/${id}?stream=true${after === undefined ? '' : `&starting_after=${after}`}`)).events;

  test('is replayed event for event, from any of them on', async () => {
    const events = await stream();
    expect(events.filter(({ type }) => type === 'response.output_text.delta').length).toBeGreaterThan(3);
    const { id } = events[0].response;
    expect(await replayed(id)).toEqual(events);
    for (const after of [0, 5, events.length - 2, events.length]) expect(await replayed(id, after)).toEqual(events.slice(after + 1));
    expect((await at(`/v1/responses/${id}`)).body).toEqual(events.at(-1).response);
  });

  test.each(['cut', 'error-event'])(
    'that its provider broke off (%s) is stored as failed, with the part that had arrived',
    async (fault) => {
      const events = await stream({ ...auth, 'x-sandbox-fault': fault });
      expect(events.at(-1).type).toBe('error');
      const { id } = events[0].response;
      const { body } = await at(`/v1/responses/${id}`);
      expect(body).toMatchObject({ id, status: 'failed', error: { code: expect.any(String), message: events.at(-1).message } });
      expect(body.usage.cost).toBeGreaterThan(0);
      const said = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
      expect(said.length).toBeGreaterThan(0);
      expect(textOf(body)).toBe(said.join(''));
      const { sequence_number } = events.at(-1);
      const ending = { type: 'response.failed', response: body, sequence_number };
      expect(await replayed(id, 2)).toEqual([...events.slice(3, -1), ending]);
    },
  );

  test('whose client disconnected is stored as incomplete, and charged for what had arrived', async () => {
    const hangUp = new AbortController();
    const answer = await fetch(`http://${world.authority}/v1/responses`, {
      method: 'POST',
      headers: { ...auth, 'content-type': 'application/json', 'x-sandbox-fault': 'slow; ms=100' },
      body: JSON.stringify({ model: MODEL, input: 'Say hello.', stream: true }),
      signal: hangUp.signal,
    });
    let text = '';
    const decoder = new TextDecoder();
    await expect(
      (async () => {
        for await (const chunk of answer.body ?? []) {
          text += decoder.decode(chunk, { stream: true });
          if (text.includes('output_text.delta')) hangUp.abort();
        }
      })(),
    ).rejects.toThrow();
    const seen = eventsOf(text.slice(0, text.lastIndexOf('\n\n')));
    const { id } = seen[0].response;
    await expect.poll(async () => (await at(`/v1/responses/${id}`)).body.status).toBe('incomplete');
    const { body } = await at(`/v1/responses/${id}`);
    expect(body).toMatchObject({ incomplete_details: { reason: 'interrupted' }, output: [{ status: 'incomplete' }] });
    const events = await replayed(id);
    expect(events.slice(0, seen.length)).toEqual(seen);
    expect(events.at(-1)).toEqual({ type: 'response.incomplete', response: body, sequence_number: events.length - 1 });
  });

  test('is stored only with its response, and deleted with it', async () => {
    const count = async () => (await world.database.pool.query('select count(*)::int as n from stored_response_streams')).rows[0].n;
    const before = await count();
    await chat(world, auth, { model: MODEL, input: 'Say hello.', stream: true, store: false }, '/v1/responses');
    expect(await count()).toBe(before);
    const [{ response }] = await stream();
    expect(await count()).toBe(before + 1);
    await at(`/v1/responses/${response.id}`, { method: 'DELETE' });
    expect(await count()).toBe(before);
  });
});

describe('what an item refers to', () => {
  test('is the item itself, of the same account alone', async () => {
    const first = await created({ input: [{ role: 'user', content: 'My name is Ada.' }] });
    const reference = { type: 'item_reference', id: first.output[0].id };
    const second = await created({ input: [reference, { role: 'user', content: 'Go on.' }] });
    const { body } = await at(`/v1/responses/${second.id}/input_items?order=asc`);
    expect(body.data[0]).toEqual(first.output[0]);
    expect((await create({ input: [reference] }, otherAuth)).status).toBe(400);
  });

  test('is a stored file, whose bytes go to the provider and not into the stored response', async () => {
    const content = [
      { type: 'input_file', file_id: 'file-letter' },
      { type: 'input_text', text: 'What is in it?' },
    ];
    const answer = await create({ model: MODEL, input: [{ role: 'user', content }] });
    expect(answer.status).toBe(200);
    const { body } = await at(`/v1/responses/${answer.body.id}/input_items`);
    expect(body.data[0].content[0]).toEqual({ type: 'input_file', file_id: 'file-letter' });
    const missing = [{ type: 'input_file', file_id: 'file-none' }];
    expect((await create({ model: MODEL, input: [{ role: 'user', content: missing }] })).status).toBe(404);
  });
});

test('what the provider ran is on a receipt that verifies, at the published prices', async () => {
  const tools = [{ type: 'web_search' }, { type: 'code_interpreter', container: { type: 'auto', memory_limit: '16g' } }];
  const { headers, body } = await create({ tools, input: 'web search, then the code interpreter' });
  expect(body.output.map(({ type }: { type: string }) => type)).toEqual(['web_search_call', 'code_interpreter_call', 'message']);
  await world.written();
  const { body: receipt } = await at(`/v1/receipts/${headers.get('x-receipt-id')}`);
  const { usage, unit_prices_pico_usd: prices, cost_nano_usd: cost } = receipt.payload;
  expect(usage).toMatchObject({ web_searches: 1, container_gigabytes: 16 });
  expect(prices).toMatchObject({ web_searches: '10000000000', container_gigabytes: '30000000000' });
  expect(BigInt(cost)).toBe(490_000_000n + (BigInt(usage.input_tokens) * 150n + BigInt(usage.output_tokens) * 600n));
  expect(verifyReceipt(receipt, (await at('/.well-known/vaas-keys.json')).body)).toMatchObject({ valid: true });
});

describe('in the background', () => {
  test('a response is queued at once, run by a worker and charged once, also for repeated jobs', async () => {
    const { body: queued, headers } = await create({ background: true });
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [] });
    expect(world.told).toContain(queued.id);
    await Promise.all([world.work(queued.id), world.work(queued.id)]);
    await world.work(queued.id);
    const { body } = await at(`/v1/responses/${queued.id}`);
    expect(body).toMatchObject({ id: queued.id, status: 'completed', usage: { cost: expect.any(Number) } });
    expect(textOf(body)).toContain('Say hello.');
    await world.written();
    expect((await at(`/v1/receipts/${headers.get('x-receipt-id')}`)).status).toBe(200);
    const { rows } = await world.database.pool.query('select count(*)::int as n from usage_records');
    const before = rows[0].n;
    await world.work(queued.id);
    await world.written();
    expect((await world.database.pool.query('select count(*)::int as n from usage_records')).rows[0].n).toBe(before);
  });

  test('streams from its first event, and can be followed again from any place', async () => {
    const asked = chat(world, auth, { model: MODEL, input: 'Say hello.', background: true, stream: true }, '/v1/responses');
    await expect.poll(() => world.told.length, { interval: 5 }).toBeGreaterThan(1);
    await world.work(world.told.at(-1) ?? '');
    const events = eventsOf((await asked).text);
    expect(events.map(({ type }) => type).slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress']);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed', background: true } });
    const { id } = events[0].response;
    expect((await streamed(`/v1/responses/${id}?stream=true&starting_after=4`)).events).toEqual(events.slice(5));
    expect((await at(`/v1/responses/${id}`)).body).toEqual(events.at(-1).response);
  });

  test('is cancelled, and asks the provider nothing where it had not begun', async () => {
    const { id } = await created({ background: true });
    expect((await at(`/v1/responses/${id}/cancel`, { method: 'POST' })).body.status).toBe('cancelled');
    await world.work(id);
    expect((await at(`/v1/responses/${id}`)).body).toMatchObject({ status: 'cancelled', output: [] });
    expect((await at(`/v1/responses/${id}/cancel`, { method: 'POST' })).body.status).toBe('cancelled');
    expect(await world.background.waiting(-60_000)).not.toContainEqual(expect.objectContaining({ id }));
  });

  test('stops while it runs, and stays cancelled', async () => {
    const { id } = await created({ background: true }, { ...auth, 'x-sandbox-fault': 'slow-first-byte; ms=9000' });
    const work = world.work(id);
    await expect.poll(async () => (await at(`/v1/responses/${id}`)).body.status, { interval: 5 }).toBe('in_progress');
    await at(`/v1/responses/${id}/cancel`, { method: 'POST' });
    await work;
    expect((await at(`/v1/responses/${id}`)).body.status).toBe('cancelled');
  });

  test('is settled for what was generated until it was cancelled', async () => {
    const before = world.told.length;
    const asked = chat(
      world,
      { ...auth, 'x-sandbox-fault': 'slow; ms=100' },
      { model: MODEL, input: 'Say hello.', background: true, stream: true },
      '/v1/responses',
    );
    await expect.poll(() => world.told.length, { interval: 5 }).toBeGreaterThan(before);
    const id = world.told.at(-1) ?? '';
    const work = world.work(id);
    const said = async () => (await world.background.eventsAfter({ accountId: session.accountId, livemode: false }, id, 5)).events.length;
    await expect.poll(said, { interval: 5 }).toBeGreaterThan(0);
    const requestId = await requestIdOf(id);
    await at(`/v1/responses/${id}/cancel`, { method: 'POST' });
    await work;
    const followed = eventsOf((await asked).text);
    expect(followed.at(-1)).toMatchObject({ type: 'response.incomplete', response: { id, status: 'cancelled' } });
    expect(followed.map(({ sequence_number }) => sequence_number)).toEqual(followed.map((_, index) => index));
    expect((await streamed(`/v1/responses/${id}?stream=true`)).events).toEqual(followed);
    await world.written();
    const settled = await world.database.pool.query('select outcome, output_tokens from usage_records where request_id = $1', [requestId]);
    expect(settled.rows).toEqual([{ outcome: 'cancelled', output_tokens: expect.anything() }]);
    expect(Number(settled.rows[0].output_tokens)).toBeGreaterThan(0);
  });

  test('holds the event loop for 50 ms at most while many small events of it are stored', async () => {
    const { id } = await created({ background: true });
    const task = await world.background.claim(id);
    if (!task) throw new Error('No other worker has taken it');
    const delta = { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'a' };
    const events = Array.from({ length: 5_000 }, (_, at) => ({ ...delta, sequence_number: at + 2 }));
    await expectTurns('events of a response', JSON.stringify(events).length, () => world.background.addEvents(task, events));
    const { events: last } = await world.background.eventsAfter(task.owner, id, 4_999);
    expect(last.map(({ event }) => event)).toEqual(events.slice(-2));
  });

  test('fails where its key was revoked meanwhile', async () => {
    const key = await newKey(world.account, session.auth, { livemode: false });
    const { id } = await created({ background: true }, key.auth);
    await send(world.account, `/v1/keys/${key.keyId}`, { method: 'DELETE', headers: session.auth });
    await world.work(id);
    expect((await at(`/v1/responses/${id}`)).body).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
  });

  test('is refused at once where the budget does not fit', async () => {
    const key = await newKey(world.account, session.auth, { livemode: false, monthly_cap_usd: '0' });
    expect((await create({ background: true }, key.auth)).status).toBe(402);
  });

  test('is done again by the next worker where the first one died', async () => {
    const { id } = await created({ background: true });
    await world.background.claim(id);
    await world.work(id);
    expect((await at(`/v1/responses/${id}`)).body.status).toBe('in_progress');
    clock.offsetMs = 60_000;
    expect(await world.background.waiting(0)).toContainEqual({ id, run: 1 });
    await world.work(id);
    clock.offsetMs = 0;
    expect((await at(`/v1/responses/${id}`)).body.status).toBe('completed');
  });

  test.each([
    ['while the provider was at work is charged at its hold', 'the answer is there', { estimated: true, at_hold: true }],
    ['while the answer was stored is charged what it came to', 'the answer is stored', { estimated: false, at_hold: false }],
  ])('a worker that died %s, and the next one as a call of its own', async (_what, last, charged) => {
    const taken = await create({ background: true });
    const [requestId, receiptId] = [taken.headers.get('x-request-id'), taken.headers.get('x-receipt-id') ?? ''];
    const { id } = taken.body;
    const { lanes } = world.inference;
    const [begin, settle, abandon] = [lanes.begin.bind(lanes), lanes.settle.bind(lanes), lanes.abandon.bind(lanes)];
    const finish = world.background.finish.bind(world.background);
    const killed = () => Promise.reject(new Error('killed'));
    let begun = 0;
    lanes.begin = (inFlight) => {
      begun += 1;
      return begun === 2 && last === 'the answer is there' ? killed() : begin(inFlight);
    };
    lanes.settle = killed;
    lanes.abandon = (holdId) => (begun > 0 ? killed() : abandon(holdId));
    world.background.finish = killed;
    await world.work(id).catch((error: unknown) => expect(String(error)).toContain('killed'));
    world.inference.unsettled.close();
    Object.assign(lanes, { begin, settle, abandon });
    Object.assign(world.background, { finish });
    clock.offsetMs = 60_000;
    await world.work(id);
    clock.offsetMs = 0;
    expect((await at(`/v1/responses/${id}`)).body.status).toBe('completed');
    await world.written();
    const settled = await world.database.pool.query(
      'select receipt_id, outcome, estimated, cost_nano = held_nano as at_hold from usage_records where request_id = $1 order by attempt',
      [requestId],
    );
    expect(settled.rows).toEqual([
      { receipt_id: receiptId, outcome: 'abandoned', ...charged },
      { receipt_id: expect.not.stringMatching(receiptId), outcome: 'completed', estimated: false, at_hold: false },
    ]);
  });

  test('is charged for the next worker too where the first one’s hold was settled and is not in the ledger yet', async () => {
    const taken = await create({ background: true });
    const [requestId, receiptId] = [taken.headers.get('x-request-id'), taken.headers.get('x-receipt-id') ?? ''];
    const { id } = taken.body;
    const { lanes } = world.inference;
    const [settle, abandon] = [lanes.settle.bind(lanes), lanes.abandon.bind(lanes)];
    const finish = world.background.finish.bind(world.background);
    lanes.settle = () => Promise.reject(new Error('killed'));
    let asked = 0;
    lanes.abandon = (holdId) => (asked++ > 0 ? Promise.reject(new Error('killed')) : abandon(holdId));
    world.background.finish = () => Promise.reject(new Error('killed'));
    await expect(world.work(id)).rejects.toThrow('killed');
    world.inference.unsettled.close();
    Object.assign(lanes, { settle, abandon });
    Object.assign(world.background, { finish });
    // As the gateway does that takes over from one that died.
    expect(await lanes.abandon(receiptId)).toBe(true);
    clock.offsetMs = 60_000;
    await world.work(id);
    clock.offsetMs = 0;
    await world.written();
    const settled = await world.database.pool.query('select outcome from usage_records where request_id = $1 order by attempt', [
      requestId,
    ]);
    expect(settled.rows).toEqual([{ outcome: 'abandoned' }, { outcome: 'completed' }]);
  });

  test('is charged what its result came to where its worker died and its key was revoked', async () => {
    const key = await newKey(world.account, session.auth, { livemode: false });
    const taken = await create({ background: true }, key.auth);
    const { id } = taken.body;
    const { lanes } = world.inference;
    const settle = lanes.settle.bind(lanes);
    lanes.settle = () => Promise.reject(new Error('killed'));
    await world.work(id);
    world.inference.unsettled.close();
    lanes.settle = settle;
    await send(world.account, `/v1/keys/${key.keyId}`, { method: 'DELETE', headers: session.auth });
    clock.offsetMs = 60_000;
    await world.work(id);
    clock.offsetMs = 0;
    await world.written();
    const settled = await world.database.pool.query(
      'select receipt_id, estimated, cost_nano > 0 as is_charged, cost_nano = held_nano as at_hold from usage_records where request_id = $1',
      [taken.headers.get('x-request-id')],
    );
    expect(settled.rows).toEqual([{ receipt_id: taken.headers.get('x-receipt-id'), estimated: false, is_charged: true, at_hold: false }]);
    expect((await at(`/v1/responses/${id}`)).body.status).toBe('completed');
  });

  test('settles what a worker left unsettled, without asking the provider again', async () => {
    const { id } = await created({ background: true });
    const { lanes } = world.inference;
    const settle = lanes.settle.bind(lanes);
    lanes.settle = () => Promise.reject(new Error('killed'));
    await world.work(id);
    lanes.settle = settle;
    const { body: stored } = await at(`/v1/responses/${id}`);
    expect(stored.status).toBe('completed');
    const requestId = () => requestIdOf(id);
    const asked = await requestId();
    clock.offsetMs = 60_000;
    await world.work(id);
    clock.offsetMs = 0;
    await world.written();
    expect((await world.database.pool.query('select 1 from usage_records where request_id = $1', [asked])).rowCount).toBe(1);
    expect((await at(`/v1/responses/${id}`)).body).toEqual(stored);
    expect(await requestId()).toBeUndefined();
  });

  test('needs store: true', async () => {
    expect((await create({ background: true, store: false })).status).toBe(400);
  });
});

describe('input tokens', () => {
  const count = async (json: object) => at('/v1/responses/input_tokens', { json });
  test('are counted with what went before, and cost nothing', async () => {
    await world.written();
    const records = async () => (await world.database.pool.query('select count(*)::int as n from usage_records')).rows[0].n;
    const first = await created({});
    await world.written();
    const before = await records();
    const alone = await count({ model: MODEL, input: 'Say hello.' });
    expect(alone.body).toMatchObject({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    expect(alone.body.input_tokens).toBeGreaterThan(3);
    expect(alone.body.input_tokens).toBeLessThan(30);
    const chained = await count({ model: MODEL, input: 'Say hello.', previous_response_id: first.id });
    expect(chained.body.input_tokens).toBeGreaterThan(alone.body.input_tokens);
    await world.written();
    expect(await records()).toBe(before);
  });

  test('of a model that is not in the catalogue are not counted', async () => {
    expect((await count({ model: 'gpt-0', input: 'Hi.' })).status).toBe(404);
  });
});

test('a compacted dialogue is the input of the next response', async () => {
  const input = [
    { role: 'user', content: 'My name is Ada.' },
    { role: 'assistant', content: 'Hello, Ada.' },
  ];
  const { status, body } = await chat(world, auth, { model: MODEL, input }, '/v1/responses/compact');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: expect.stringMatching(/^resp_/),
    object: 'response.compaction',
    created_at: expect.any(Number),
    output: [
      {
        ...{ id: expect.stringMatching(/^msg_/), type: 'message', status: 'completed', role: 'user' },
        content: [{ type: 'input_text', text: 'My name is Ada.' }],
      },
      { type: 'compaction', encrypted_content: expect.any(String) },
    ],
    usage: { total_tokens: expect.any(Number), cost: expect.any(Number) },
  });
  const next = await created({ input: [...body.output, { role: 'user', content: 'Say hello.' }] });
  expect(next.status).toBe('completed');
});

test('a dialogue is compacted for clients that send the options of the response along', async () => {
  const options = { prompt_cache_options: { mode: 'implicit', ttl: '30m' }, prompt_cache_retention: '24h', service_tier: 'default' };
  const { status, body } = await chat(world, auth, { model: MODEL, input: 'Say hello.', ...options }, '/v1/responses/compact');
  expect([status, body.object]).toEqual([200, 'response.compaction']);
});

test('what is too long for the window is refused, or cut at its beginning where that was asked for', async () => {
  const input = Array.from({ length: 40 }, (_, index) => ({ role: 'user', content: `${index} ${'word '.repeat(4_000)}` }));
  const error = { code: 'context_length_exceeded', param: 'input', type: 'invalid_request_error' };
  expect(await create({ input })).toMatchObject({ status: 400, body: { code: 'context_length_exceeded', error } });
  const messages = input.map(({ role, content }) => ({ role, content }));
  expect(await chat(world, auth, { model: MODEL, messages })).toMatchObject({
    status: 400,
    body: { error: { ...error, param: 'messages' } },
  });
  expect((await create({ input, truncation: 'auto', max_output_tokens: 16 })).status).toBe(200);
});

test('a slash at the end of a path is passed over', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  expect((await chat(world, auth, { model: MODEL, messages }, '/v1/chat/completions/')).status).toBe(200);
  expect((await chat(world, auth, { model: MODEL, input: 'Hi' }, '/v1/responses/')).status).toBe(200);
  expect((await at('/v1/responses/resp_1/?x=1')).status).toBe(400);
  expect((await at('/v1/responses//')).status).toBe(404);
});

describe('nothing that a caller can send is answered with a failure of ours', () => {
  const NUL = '%00';
  test.each([
    `/v1/responses/${NUL}`,
    `/v1/responses/${NUL}/input_items`,
    '/v1/responses/%ED%A0%80',
    `/v1/conversations/${NUL}`,
    `/v1/conversations/${NUL}/items`,
    `/v1/chat/completions/${NUL}`,
    `/v1/chat/completions/${NUL}/messages`,
    `/v1/chat/completions?after=${NUL}&metadata[a]=${NUL}&model=${NUL}`,
  ])('GET %s', async (path) => {
    expect((await at(path)).status).toBeLessThan(500);
  });

  test.each([
    [NUL, 400],
    ['%ED%A0%80', 404],
    ['x'.repeat(300), 404],
  ])('GET /v1/responses/%s as a stream', async (id, status) => {
    expect((await streamed(`/v1/responses/${id}?stream=true`)).status).toBe(status);
    expect((await streamed(`/v1/responses/resp_1?stream=true&starting_after=${id}`)).status).toBe(400);
  });

  test.each([
    { input: 'a\0b', metadata: { 'k\0': 'v\ud800' }, user: '\0' },
    { input: [{ type: 'message', id: 'x\0', role: 'user', content: 'half \ud800' }] },
    { input: [{ type: 'item_reference', id: '\0' }] },
    { previous_response_id: '\0' },
    { conversation: '\ud800' },
    { background: true, input: '\0\ud800' },
  ])('POST /v1/responses %#', async (body) => {
    const answer = await create(body);
    expect(answer.status).toBeLessThan(500);
    if (answer.status !== 200) return;
    expect((await at(`/v1/responses/${answer.body.id}`)).status).toBe(200);
    if (!('background' in body)) expect((await create({ previous_response_id: answer.body.id })).status).toBe(200);
  });
});

test('a template that is stored at the provider is refused: its cost and owner are unknown', async () => {
  const { status, body } = await create({ input: 'Hi.', prompt: { id: 'pmpt_of_somebody' } }, auth);
  expect([status, body.code, body.error.param]).toEqual([400, 'unpriced_feature', 'prompt']);
});
