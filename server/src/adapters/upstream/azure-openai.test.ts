import { azureSteps, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { describe, expect, it, test } from 'vitest';
import { againstFakeUpstream, KEY } from './against-fake-upstream.ts';
import { azureWords } from './azure-fault.ts';
import { type AzureOpenAiOptions, azureOpenAi } from './azure-openai.ts';
import { PreambleMerged } from './azure-preamble.ts';
import { describeUpstreamConformance } from './conformance.ts';
import { chatCall, chunksOf, pumped } from './conformance-calls.ts';

describe.each([['2024-10-21'], ['v1'], ['preview']])('version %s', (apiVersion) => {
  describeUpstreamConformance('the Azure adapter', async () => {
    const fake = await startFakeUpstream();
    const provider = azureOpenAi({ name: 'fake', baseUrl: new URL('/', fake.url).href, apiKey: KEY, apiVersion });
    return { provider, model: 'my-deployment', close: fake.close };
  });
});

const azureAt = (options: AzureOpenAiOptions) => azureOpenAi({ ...options, baseUrl: new URL('/', options.baseUrl).href });
const { fake, provider, chat, ask } = againstFakeUpstream(azureAt, 'my deployment');

describe('what is sent', () => {
  const sent = async (options: Partial<AzureOpenAiOptions>) => {
    const other = azureOpenAi({ name: 'fake', baseUrl: new URL('/', fake().url).href, apiKey: KEY, ...options });
    await other.call(chatCall('my deployment'));
    await other.close();
    return fake().requests.at(-1);
  };

  test.each([
    [undefined, '/openai/v1/chat/completions'],
    ['v1', '/openai/v1/chat/completions'],
    ['preview', '/openai/v1/chat/completions?api-version=preview'],
    ['2024-10-21', '/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21'],
  ])('with the version %s goes to %s', async (apiVersion, path) => {
    expect((await sent({ apiVersion }))?.path).toBe(path);
  });

  test.each(['/openai', '/openai/', '/openai/v1'])('goes to the same place where the address ends in %s', async (end) => {
    const baseUrl = new URL(end, fake().url).href;
    expect((await sent({ baseUrl }))?.path).toBe('/openai/v1/chat/completions');
  });

  it('bears the key as `api-key`, or as a token where that was configured', async () => {
    const byKey = await sent({});
    expect([byKey?.headers['api-key'], byKey?.headers.authorization]).toEqual([KEY, undefined]);
    const byToken = await sent({ auth: 'bearer' });
    expect([byToken?.headers['api-key'], byToken?.headers.authorization]).toEqual([undefined, `Bearer ${KEY}`]);
  });

  it('names the deployment as the model, and the bound in the field that its reasoning models take', async () => {
    expect((await sent({}))?.body).toMatchObject({ model: 'my deployment', max_completion_tokens: 256 });
    expect((await sent({ maxTokensField: 'max_tokens' }))?.body).toMatchObject({ max_tokens: 256 });
  });

  it.each([
    [undefined, 'default'],
    ['2025-10-01-preview', 'default'],
    ['2024-10-21', undefined],
  ])('with the version %s names the tier %s, whatever the deployment is set to', async (apiVersion, service_tier) => {
    expect(Object((await sent({ apiVersion }))?.body).service_tier).toBe(service_tier);
  });

  it('is nothing where Azure would put documents into the prompt that nobody has held', async () => {
    expect(await chat({ request: { data_sources: [{ type: 'azure_search' }] } })).toMatchObject({
      kind: 'rejected',
      param: 'data_sources',
    });
    expect(fake().requests).toHaveLength(0);
  });
});

test('what Azure never had is not served', () => {
  const served = (apiVersion: string) => azureOpenAi({ name: 'x', baseUrl: 'https://x.test', apiVersion });
  expect(served('v1').serves('/v1/moderations')).toBe(false);
  for (const endpoint of ['/v1/videos', '/v1/videos/characters'] as const)
    expect([served('v1').serves(endpoint), served('2024-10-21').serves(endpoint)]).toEqual([true, false]);
  expect(served('2024-10-21').serves('/v1/responses')).toBe(true);
});

describe('a realtime connection', () => {
  const open = async (options: Partial<AzureOpenAiOptions> = {}) => {
    const other = azureOpenAi({ name: 'fake', baseUrl: new URL('/', fake().url).href, apiKey: KEY, ...options });
    const opened = fake().realtime.nextSession();
    const outcome = await other.connect?.({ model: 'my deployment', timeoutMs: 5_000, signal: new AbortController().signal });
    if (!outcome?.ok) throw new Error(outcome?.message);
    const session = await opened;
    outcome.socket.close(1000, '');
    await session.closed;
    await other.close();
    return session;
  };

  test.each([
    [undefined, '/openai/v1/realtime?model=my%20deployment'],
    ['preview', '/openai/v1/realtime?api-version=preview&model=my%20deployment'],
  ])('with the version %s is at %s', async (apiVersion, path) => {
    const { path: asked } = await open({ apiVersion });
    const [{ pathname, searchParams }, expected] = [asked, path].map((one) => new URL(one, 'http://x')) as [URL, URL];
    expect([pathname, Object.fromEntries(searchParams)]).toEqual([expected.pathname, Object.fromEntries(expected.searchParams)]);
  });

  it('bears the key as `api-key`, or as a token where that was configured', async () => {
    const { headers } = await open();
    expect([headers['api-key'], headers.authorization]).toEqual([KEY, undefined]);
    const byToken = await open({ auth: 'bearer' });
    expect([byToken.headers['api-key'], byToken.headers.authorization]).toEqual([undefined, `Bearer ${KEY}`]);
  });

  it('is not served at a dated version, which has another protocol', () => {
    expect(azureOpenAi({ name: 'x', baseUrl: 'https://x.test', apiVersion: '2024-10-21' }).serves('/v1/realtime')).toBe(false);
  });

  it('that is refused is a fault in Azure’s words', async () => {
    fake().realtime.refuseNext({
      status: 401,
      body: { error: { code: '401', message: 'Access denied due to invalid subscription key.' } },
    });
    const outcome = await provider().connect?.({ model: 'x', timeoutMs: 5_000, signal: new AbortController().signal });
    expect(outcome).toMatchObject({ ok: false, kind: 'failed', status: 401, message: expect.stringContaining('invalid subscription key') });
  });
});

describe('a stream', () => {
  it('begins with a chunk of OpenAI’s, which bears what the filter made of the prompt', async () => {
    const chunks = chunksOf(await pumped(await ask({ stream: true })));
    expect(chunks[0]).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-azure-/),
      choices: [{ delta: { role: 'assistant' } }],
      prompt_filter_results: [{ prompt_index: 0 }],
    });
    expect(chunks.slice(1).some((chunk) => 'prompt_filter_results' in chunk)).toBe(false);
  });

  it('is the same wherever its bytes are cut, with either line end', async () => {
    fake().script({}, { ...steps.split(1) }, { ...steps.crlf(), ...steps.split(5) });
    const [whole, one, crlf] = [
      await pumped(await ask({ stream: true })),
      await pumped(await ask({ stream: true })),
      await pumped(await ask({ stream: true })),
    ];
    const plain = (text: string) => text.replaceAll('\r\n', '\n').replaceAll(/chatcmpl-azure-\d+/g, 'id');
    expect([plain(one), plain(crlf)]).toEqual([plain(whole), plain(whole)]);
  });

  it('that has no preamble passes as it is, as does what is no stream', () => {
    for (const text of [
      'data: {"id":"a","choices":[{"index":0}]}\n\ndata: [DONE]\n\n',
      'data: {"error":{"message":"x"}}\n\n',
      '{"choices":[]}',
      '<html>',
    ]) {
      const merged = new PreambleMerged('text/event-stream');
      expect(Buffer.concat([merged.push(Buffer.from(text)), merged.end()]).toString()).toBe(text);
    }
  });
});

describe('a refusal', () => {
  it('of the content filter says what it found, and is the request’s own', async () => {
    fake().script(azureSteps.promptFiltered());
    expect(await chat()).toMatchObject({
      kind: 'rejected',
      code: 'content_filter',
      param: null,
      message: expect.stringMatching(/policy\. \(hate: high\)$/),
    });
  });

  it('that is our configuration’s or Azure’s own lets another deployment try', async () => {
    fake().script(azureSteps.deploymentNotFound(), azureSteps.operationNotSupported(), azureSteps.rateLimited(6));
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 404, code: 'DeploymentNotFound' });
    expect(await chat()).toMatchObject({ kind: 'failed', retryable: true, status: 400 });
    expect(await chat({ stream: true })).toMatchObject({ kind: 'rate_limited', retryAfterMs: 6000, code: null });
  });

  it('without credentials is one of ours', async () => {
    const other = azureOpenAi({ name: 'fake', baseUrl: new URL('/', fake().url).href });
    expect(await other.call(chatCall('d'))).toMatchObject({ kind: 'failed', status: 401 });
    await other.close();
  });

  it('of the model is OpenAI’s', () => {
    const words = azureWords(
      '{"error":{"message":"Too high.","type":"invalid_request_error","param":"temperature","code":"invalid_value"}}',
    );
    expect(words).toEqual({ message: 'Too high.', type: 'invalid_request_error', param: 'temperature', code: 'invalid_value' });
  });
});

test('what lives at the provider is read below the same surface', async () => {
  const limits = { firstByteTimeoutMs: 1000, idleTimeoutMs: 1000, signal: new AbortController().signal };
  await provider().read?.({ method: 'GET', path: '/videos/video_1', ...limits });
  expect(fake().requests[0]).toMatchObject({ method: 'GET', path: '/openai/v1/videos/video_1' });
});
