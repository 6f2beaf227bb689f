import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bedrockSteps, type FakeUpstream, startFakeUpstream, steps } from '../index.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.close());
beforeEach(() => fake.reset());

const text = (said: string) => ({ text: said });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const PLAIN = { messages: [user(text('Hi.'))], inferenceConfig: { maxTokens: 100 } };
const LOOK = { toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } } } } } };
const USE = { toolUse: { toolUseId: 'tooluse_1', name: 'look', input: {} } };
const RESULT = { toolResult: { toolUseId: 'tooluse_1', content: [text('rain')] } };

const post = (body: object, operation = 'converse', headers: Record<string, string> = { authorization: 'Bearer key' }): Promise<Response> =>
  fetch(`${new URL(fake.url).origin}/model/amazon.nova-lite-v1%3A0/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const asked = async (fields: object = {}) => (await post({ ...PLAIN, ...fields })).json();
const refusal = async (fields: object) => {
  const response = await post({ ...PLAIN, ...fields });
  return [response.status, response.headers.get('x-amzn-errortype')?.split(':')[0], (await response.json()).message];
};

describe('the default answer', () => {
  it('is a message of eight words with exact usage', async () => {
    expect(await asked()).toMatchObject({
      output: { message: { role: 'assistant', content: [text('tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7')] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 10, outputTokens: 8, totalTokens: 18 },
    });
  });

  it('calls the required tool, stops at the bound, and thinks on request', async () => {
    const forced = { tools: [LOOK], toolChoice: { any: {} } };
    expect(await asked({ toolConfig: forced })).toMatchObject({
      output: { message: { content: [{ toolUse: { name: 'look', input: { city: 'text' } } }] } },
      stopReason: 'tool_use',
    });
    expect(await asked({ inferenceConfig: { maxTokens: 2 } })).toMatchObject({ stopReason: 'max_tokens', usage: { outputTokens: 2 } });
    expect(await asked({ additionalModelRequestFields: { thinking: { type: 'enabled' } } })).toMatchObject({
      output: {
        message: {
          content: [{ reasoningContent: { reasoningText: { text: 'Let me think.' } } }, { text: expect.stringContaining('tok0') }],
        },
      },
    });
  });

  it('streams in messages of AWS’s framing, each as long as it says', async () => {
    const response = await post(PLAIN, 'converse-stream');
    expect(response.headers.get('content-type')).toBe('application/vnd.amazon.eventstream');
    const bytes = Buffer.from(await response.arrayBuffer());
    const names: string[] = [];
    for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
      const head = bytes.subarray(at + 12, at + 12 + bytes.readUInt32BE(at + 4)).toString('latin1');
      // Behind the name its type and its length, three bytes.
      names.push(/:event-type.{3}(\w+?)\W/s.exec(head)?.[1] ?? head);
    }
    const deltas = Array.from({ length: 8 }, () => 'contentBlockDelta');
    expect(names).toEqual(['messageStart', ...deltas, 'contentBlockStop', 'messageStop', 'metadata']);
  });
});

describe('what Bedrock would refuse', () => {
  it('is refused without a signature or a key', async () => {
    const response = await post(PLAIN, 'converse', {});
    expect(response.status).toBe(403);
    expect(response.headers.get('x-amzn-errortype')).toMatch(/^MissingAuthenticationToken/);
  });

  it.each<[string, object]>([
    ['an unknown field', { model: 'nova' }],
    ['no message', { messages: [] }],
    ['a blank text', { messages: [user(text(' '))] }],
    ['two turns of one side', { messages: [user(text('Hi.')), user(text('Hi.'))] }],
    ['a block of two kinds', { messages: [user({ text: 'Hi.', image: {} })] }],
    ['a document without a text', { messages: [user({ document: { format: 'pdf', name: 'One', source: { bytes: 'aGk=' } } })] }],
    ['an image by its address', { messages: [user({ image: { format: 'png', source: { url: 'https://example.com/a.png' } } })] }],
    ['a call without its result', { messages: [user(text('Hi.')), assistant(USE), user(text('Hi.'))], toolConfig: { tools: [LOOK] } }],
    ['calls without tools', { messages: [user(text('Hi.')), assistant(USE), user(RESULT)] }],
    ['a temperature above 1', { inferenceConfig: { temperature: 1.5 } }],
  ])('%s', async (_, fields) => {
    expect(await refusal(fields)).toEqual([400, 'ValidationException', expect.stringMatching(/./)]);
  });
});

it('says what the script says: exceptions, cached tokens, a message that is garbled', async () => {
  fake.script(bedrockSteps.throttled(), bedrockSteps.cached({ read: 6, write1h: 4 }), steps.errorMidStream(3));
  expect((await post(PLAIN)).status).toBe(429);
  expect(await asked()).toMatchObject({ usage: { inputTokens: 10, cacheReadInputTokens: 6, cacheWriteInputTokens: 4 } });
  expect(await (await post(PLAIN, 'converse-stream')).text()).toContain('modelStreamErrorException');
  expect(bedrockSteps.garbled().length).toBeGreaterThan(16);
});
