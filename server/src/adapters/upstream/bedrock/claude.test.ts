import { ChatCompletion, MessagesRequest } from '@tallygate/contract';
import { anthropicSteps, bedrockSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, MAX_BYTES } from '../against-fake-upstream.ts';
import { contentBlocks } from '../anthropic/content.ts';
import { describeUpstreamConformance } from '../conformance.ts';
import { chatCall, chunksOf, pumped } from '../conformance-calls.ts';
import type { UpstreamCallOf } from '../port.ts';
import { CHAT_REQUESTS } from '../testing/chat-requests.ts';
import { bedrockAt } from './testing/bedrock-at-fake.ts';

const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';

describe.each([CLAUDE, 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-opus-4-8'])('%s', (model) => {
  describeUpstreamConformance('the Bedrock adapter', async () => {
    const fake = await startFakeUpstream();
    return { provider: bedrockAt({ name: 'fake', baseUrl: fake.url }), model, hasOneChoiceOnly: true, close: fake.close };
  });
});

const { fake, provider, chat, ask } = againstFakeUpstream(bedrockAt, CLAUDE);
type MessagesCall = UpstreamCallOf<'/v1/messages'>;

function messagesCall(fields: object = {}, overrides: Partial<MessagesCall> = {}): MessagesCall {
  const request = MessagesRequest.parse({ model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }], ...fields });
  return { ...chatCall(CLAUDE), endpoint: '/v1/messages', maxOutputTokens: 100, request, ...overrides } as MessagesCall;
}
async function messages(fields: object = {}, overrides: Partial<MessagesCall> = {}) {
  const answer = await provider().call(messagesCall(fields, overrides));
  if (!answer.ok) throw new Error(answer.message);
  return answer;
}

describe('a chat with Claude', () => {
  it('is one that Anthropic’s models take there, whatever OpenAI would take', async () => {
    const models = fc.constantFrom(CLAUDE, 'anthropic.claude-opus-5', 'us.anthropic.claude-haiku-4-5-20251001-v1:0');
    await fc.assert(
      fc.asyncProperty(models, CHAT_REQUESTS, async (model, request) => {
        const says = request.messages.some((message) => 'tool_calls' in message || contentBlocks(message.content).length > 0);
        const answer = await chat({ model, request, maxOutputTokens: 2000 });
        if (answer.ok) answer.abort();
        else expect([says, answer.message]).toEqual([false, expect.stringContaining('at least one message')]);
      }),
      { numRuns: 100 },
    );
  });

  it('goes to InvokeModel in Anthropic’s words, and counts its cache', async () => {
    fake().script(anthropicSteps.cached({ read: 3000, write5m: 500, write1h: 200 }));
    const { usage } = ChatCompletion.parse(JSON.parse((await (await ask()).collect(MAX_BYTES)).toString()));
    expect(usage).toMatchObject({ prompt_tokens: 3710, prompt_tokens_details: { cached_tokens: 3000, cache_write_1h_tokens: 200 } });
    expect(fake().requests[0]).toMatchObject({
      path: `/model/${encodeURIComponent(CLAUDE)}/invoke`,
      body: { anthropic_version: 'bedrock-2023-05-31', max_tokens: 256 },
    });
  });

  it('tells of an exception in the middle of its stream, and what the prompt came to of one that is cut', async () => {
    fake().script(steps.errorMidStream(4));
    expect(await pumped(await ask({ stream: true }))).toContain('"code":"modelStreamErrorException"');
    fake().script({ ...anthropicSteps.cached({ read: 3000 }), ...steps.cutStream(4, 'reset') });
    const answer = await ask({ stream: true });
    await expect(answer.pump(() => {})).rejects.toMatchObject({ reason: 'reset' });
    expect(answer.usageSoFar?.()).toMatchObject({ prompt_tokens: 3010, prompt_tokens_details: { cached_tokens: 3000 } });
  });

  it('comes whole from pieces cut anywhere', async () => {
    const text = 'Grüß dich, 世界 👋';
    fake().script({ text, ...steps.split(1) });
    const chunks = chunksOf(await pumped(await ask({ stream: true })));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(text);
  });
});

describe('a request of Messages', () => {
  it('passes as it is, but for the model, the stream and the tier, with the betas that Bedrock knows', async () => {
    const betas = 'claude-code-20250219, interleaved-thinking-2025-05-14,context-1m-2025-08-07';
    const fields = { metadata: { user_id: 'u' }, service_tier: 'auto', tools: [{ type: 'bash_20250124', name: 'bash' }] };
    await provider().call(messagesCall(fields, { betas }));
    expect(fake().requests[0]?.body).toEqual({
      ...{ anthropic_version: 'bedrock-2023-05-31', anthropic_beta: ['interleaved-thinking-2025-05-14', 'context-1m-2025-08-07'] },
      ...{ max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }], metadata: { user_id: 'u' } },
      tools: [{ type: 'bash_20250124', name: 'bash' }],
    });
    await provider().call(messagesCall({}, { betas, model: 'anthropic.claude-opus-4-7' }));
    expect(fake().requests[1]?.body).toMatchObject({ anthropic_beta: ['interleaved-thinking-2025-05-14'] });
  });

  it('has Anthropic’s own answer, byte by byte', async () => {
    const body = '{ "id":"msg_bdrk_1", "type":"message", "a_field_of_next_year": 1e2 }';
    fake().script({ body });
    expect((await (await messages()).collect(MAX_BYTES)).toString()).toBe(body);
  });

  it('has Anthropic’s own events, byte by byte, without AWS’s framing', async () => {
    const events = [
      '{"type":"message_start","message":{"id":"m"}}',
      '{"type":"a_new_one","x":1e2}',
      '{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":8}}',
    ];
    fake().script(bedrockSteps.stream(...events.map((event) => bedrockSteps.chunkFrame(event))));
    const answer = await messages({}, { stream: true });
    expect(answer.contentType).toContain('text/event-stream');
    expect(await pumped(answer)).toBe(
      ['message_start', 'a_new_one', 'message_stop'].map((name, index) => `event: ${name}\ndata: ${events[index]}\n\n`).join(''),
    );
  });

  it('has an exception as Anthropic’s event of an error, and a message that is garbled as one that cannot be read', async () => {
    const exception = bedrockSteps.exceptionFrame('throttlingException', { message: 'Wait.' });
    fake().script(bedrockSteps.stream(bedrockSteps.garbled(), exception));
    const error = { type: 'error', error: { type: 'throttlingException', message: 'Wait.' } };
    expect(await pumped(await messages({}, { stream: true }))).toBe(`data: unreadable\n\nevent: error\ndata: ${JSON.stringify(error)}\n\n`);
  });

  it('is refused before it is sent where Bedrock would have to fetch a picture, and served by Claude alone', async () => {
    const picture = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const result = { type: 'tool_result', tool_use_id: 'a', content: [picture] };
    for (const block of [picture, result])
      expect(await provider().call(messagesCall({ messages: [{ role: 'user', content: [block] }] }))).toMatchObject({
        ...{ ok: false, kind: 'rejected', retryable: true, status: null, param: 'messages' },
      });
    expect(fake().requests).toHaveLength(0);
    expect([provider().serves('/v1/messages', CLAUDE), provider().serves('/v1/messages', 'amazon.nova-lite-v1:0')]).toEqual([true, false]);
  });
});
