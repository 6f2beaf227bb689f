import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../testing/collect.ts';
import { event, inferenceAnswerHeaders, RECEIPT_ID, storedResponse } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { ConnectionError, outputText, Tallygate, UpstreamError } from './index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const HELLO = { model: 'gpt-4o-mini', input: 'Say hello.' };
const EVENTS = [
  { type: 'response.created', sequence_number: 0, response: storedResponse('in_progress') },
  { type: 'response.output_text.delta', sequence_number: 1, delta: 'Hello.' },
  { type: 'response.completed', sequence_number: 2, response: storedResponse('completed') },
];
const items = (...ids: string[]) => ids.map((id) => ({ id, type: 'message', role: 'user', content: id }));
const page = (data: { id: string }[], has_more: boolean) => ({
  json: { object: 'list', data, first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '', has_more },
});

describe('a response', () => {
  it('is answered whole, once however often it is tried, and its text is one', async () => {
    gateway.script({ json: storedResponse('completed'), headers: inferenceAnswerHeaders });
    const { data, receiptId } = await tallygate.responses
      .create(HELLO, { agentRun: { id: 'leg-1', parentId: 'trip-42', maxCalls: 9, deadline: '600' } })
      .withResponse();
    expect([outputText(data), receiptId]).toEqual(['Hello.', RECEIPT_ID]);
    expect(gateway.requests[0]?.headers).toMatchObject({
      'idempotency-key': expect.any(String),
      ...{ 'x-agent-run-id': 'leg-1', 'x-agent-parent-run-id': 'trip-42', 'x-agent-max-calls': '9', 'x-agent-deadline': '600' },
    });
  });

  it('is streamed to its last event, which needs no end marker', async () => {
    gateway.script({ pieces: EVENTS.map(event), end: true, headers: inferenceAnswerHeaders });
    expect(await collect(await tallygate.responses.create({ ...HELLO, stream: true }))).toEqual(EVENTS);
  });

  it('that is cut is detected, and is followed from the last event that arrived', async () => {
    gateway.script({ pieces: EVENTS.slice(0, 2).map(event), end: true }, { pieces: EVENTS.slice(2).map(event), end: true });
    const arrived: number[] = [];
    const read = async () => {
      for await (const { sequence_number } of await tallygate.responses.create({ ...HELLO, stream: true })) arrived.push(sequence_number);
    };
    await expect(read()).rejects.toBeInstanceOf(ConnectionError);
    const rest = await collect(await tallygate.responses.follow('resp_1', { startingAfter: arrived.at(-1) }));
    expect(rest).toEqual(EVENTS.slice(2));
    expect(gateway.requests[1]?.query).toEqual({ stream: 'true', starting_after: '1' });
  });

  it('that fails on the way raises a typed error', async () => {
    const error = { type: 'error', code: 'upstream_failed', message: 'It broke off.', param: null, sequence_number: 2 };
    gateway.script({ pieces: [...EVENTS.slice(0, 2).map(event), `event: error\n${event(error)}`], end: true });
    const failure = await collect(await tallygate.responses.create({ ...HELLO, stream: true })).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ code: 'upstream_failed' });
  });

  it('in the background is waited for', async () => {
    gateway.script({ json: storedResponse('queued') }, { json: storedResponse('in_progress') }, { json: storedResponse('completed') });
    expect(await tallygate.responses.wait('resp_1', { pollMs: 1 })).toMatchObject({ status: 'completed' });
  });
});

it('lists items over all pages', async () => {
  gateway.script(page(items('msg_1', 'msg_2'), true), page(items('msg_3'), false));
  expect((await collect(tallygate.conversations.items.list('conv_1', { limit: 2 }))).map(({ id }) => id)).toEqual([
    'msg_1',
    'msg_2',
    'msg_3',
  ]);
  expect(gateway.requests[1]?.query).toEqual({ limit: '2', after: 'msg_2' });
});

it('names pairs of metadata as OpenAI’s clients do', async () => {
  gateway.script(page([], false));
  await tallygate.chat.completions.list({ metadata: { topic: 'demo' } });
  expect(gateway.requests[0]?.query).toEqual({ 'metadata[topic]': 'demo' });
});
