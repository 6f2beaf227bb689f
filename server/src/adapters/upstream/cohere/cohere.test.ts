import { startFakeUpstream } from '@tallygate/fake-upstream';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, KEY, MAX_BYTES } from '../against-fake-upstream.ts';
import { describeUpstreamConformance } from '../conformance.ts';
import type { RankedTexts, UpstreamCall } from '../port.ts';
import { cohere } from './index.ts';

const rootOf = (url: string): string => new URL(url).origin;

describeUpstreamConformance('the Cohere adapter', async () => {
  const fake = await startFakeUpstream();
  return {
    ...{ provider: cohere({ name: 'fake', baseUrl: rootOf(fake.url) }), model: 'command-a-03-2025', hasOneChoiceOnly: true },
    close: fake.close,
  };
});

const { fake, provider, provide } = againstFakeUpstream((options) => cohere({ ...options, baseUrl: rootOf(options.baseUrl) }));
const MODEL = 'rerank-v4.0-pro';
const call = (request: Partial<RankedTexts> = {}): UpstreamCall => ({
  ...{ endpoint: '/v1/rerank', model: MODEL, stream: false, maxOutputTokens: null },
  ...{ firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000, signal: new AbortController().signal },
  request: { model: 'name-at-the-gateway', query: 'Which?', documents: ['a', 'b'], ...request },
});
const asked = async (one: UpstreamCall, by = provider()) => {
  const outcome = await by.call(one);
  if (!outcome.ok) throw new Error(outcome.message);
  return JSON.parse(String(await outcome.collect(MAX_BYTES)));
};

describe('a ranking at Cohere', () => {
  it('is asked for by its own API, with the fields that it knows and no others', async () => {
    const answer = await asked(call({ top_n: 5, max_tokens_per_doc: 512, user: 'ada', models: ['other'], return_documents: true }));
    expect(fake().requests[0]).toMatchObject({ method: 'POST', path: '/v2/rerank', headers: { authorization: `Bearer ${KEY}` } });
    expect(fake().requests[0]?.body).toEqual({ model: MODEL, query: 'Which?', documents: ['a', 'b'], top_n: 2, max_tokens_per_doc: 512 });
    expect(answer).toMatchObject({ results: [{ index: 0 }, { index: 1 }], meta: { billed_units: { search_units: 1 } } });
  });

  it('is refused in the words of Cohere, whose errors have no code', async () => {
    fake().script({ status: 400, body: { id: 'a', message: 'invalid request: list of documents must not be empty' } });
    expect(await provider().call(call())).toMatchObject({
      ...{ ok: false, kind: 'rejected', status: 400, code: null },
      message: 'invalid request: list of documents must not be empty',
    });
    fake().script({ status: 429, body: { message: 'too many requests' } });
    expect(await provider().call(call())).toMatchObject({ ok: false, kind: 'rate_limited', retryable: true });
  });

  it.each(['/compatibility/v1', '/v2', '/v1/', ''])('goes to the root of an address that ends in "%s"', async (path) => {
    const other = cohere({ name: 'fake', baseUrl: `${rootOf(fake().url)}${path}` });
    await asked(call(), other);
    expect(fake().requests[0]?.path).toBe('/v2/rerank');
    await other.close();
  });

  it('is served beside chats and embeddings, and nothing else is', async () => {
    const other = provide();
    expect(
      ['/v1/rerank', '/v1/chat/completions', '/v1/embeddings', '/v1/responses', '/v1/images/generations'].map((one) =>
        other.serves(one as '/v1/rerank'),
      ),
    ).toEqual([true, true, true, false, false]);
    await other.close();
  });
});
