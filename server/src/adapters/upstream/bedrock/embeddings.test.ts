import { EmbeddingRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, MAX_BYTES } from '../against-fake-upstream.ts';
import { chatCall } from '../conformance-calls.ts';
import type { UpstreamCall } from '../port.ts';
import { bedrockAt } from './testing/bedrock-at-fake.ts';

const { fake, provider } = againstFakeUpstream(bedrockAt);
const TITAN = 'amazon.titan-embed-text-v2:0';
const COHERE = 'cohere.embed-multilingual-v3';

function call(model: string, fields: object): UpstreamCall {
  const request = EmbeddingRequest.parse({ model: 'embeddings', ...fields });
  return { ...chatCall(model), endpoint: '/v1/embeddings', maxOutputTokens: null, request } as UpstreamCall;
}
async function embedded(model: string, fields: object) {
  const answer = await provider().call(call(model, fields));
  if (!answer.ok) throw new Error(answer.message);
  return JSON.parse((await answer.collect(MAX_BYTES)).toString());
}

describe('embeddings', () => {
  it('of Titan are those of one text, with its tokens', async () => {
    expect(await embedded(TITAN, { input: 'Hi.', dimensions: 2 })).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [expect.closeTo(Math.SQRT1_2), expect.closeTo(Math.SQRT1_2)] }],
      model: TITAN,
      usage: { prompt_tokens: 10, total_tokens: 10 },
    });
    expect(fake().requests[0]).toMatchObject({
      path: `/model/${encodeURIComponent(TITAN)}/invoke`,
      body: { inputText: 'Hi.', dimensions: 2, normalize: true },
    });
  });

  it('of Cohere are those of many, with the tokens that AWS counts in a header', async () => {
    const { data, usage } = await embedded(COHERE, { input: ['Hi.', 'Ho.'], encoding_format: 'base64' });
    expect(data).toHaveLength(2);
    expect(data[0].embedding).toBe('AAAAPwAAAD8AAAA/AAAAPw==');
    expect(usage).toEqual({ prompt_tokens: 20, total_tokens: 20 });
    expect(fake().requests[0]?.body).toMatchObject({ texts: ['Hi.', 'Ho.'], truncate: 'NONE', input_type: 'search_document' });
  });

  it.each<[string, object, string]>([
    [TITAN, { input: ['Hi.', 'Ho.'] }, 'input'],
    [TITAN, { input: [1, 2] }, 'input'],
    ['amazon.titan-embed-text-v1', { input: 'Hi.', dimensions: 2 }, 'dimensions'],
    [COHERE, { input: 'Hi.', dimensions: 2 }, 'dimensions'],
    [COHERE, { input: Array.from({ length: 97 }, () => 'Hi.') }, 'input'],
  ])('of %s are refused without asking where it cannot do what is asked: %j', async (model, fields, param) => {
    expect(await provider().call(call(model, fields))).toMatchObject({ ok: false, kind: 'rejected', status: null, param });
    expect(fake().requests).toHaveLength(0);
  });

  it('are what models serve that make them, and nothing else', () => {
    expect([TITAN, COHERE, 'amazon.nova-lite-v1:0'].map((model) => provider().serves('/v1/embeddings', model))).toEqual([
      true,
      true,
      false,
    ]);
    expect([TITAN, 'cohere.command-r-v1:0'].map((model) => provider().serves('/v1/chat/completions', model))).toEqual([false, true]);
  });

  it('that are none are left as they are, for the relay to refuse', async () => {
    fake().script({ body: { hello: 'world' } });
    expect(await embedded(COHERE, { input: 'Hi.' })).toEqual({ hello: 'world' });
  });
});
