import { ChatCompletion, type ChatCompletionChunk } from '@tallygate/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answered, type CallOverrides, chatCall, chunksOf, pumped } from './conformance-calls.ts';
import { UpstreamCut, type UpstreamProvider } from './port.ts';

/** A provider under test, and the name of a chat model in it that calls tools and fills in schemas. */
export interface ProviderUnderTest {
  readonly provider: UpstreamProvider;
  readonly model: string;
  /** The adapter refuses what the provider cannot do and nothing else can stand for: more than one choice. */
  readonly hasOneChoiceOnly?: boolean;
  /** Frees what the test's provider stands on; called after the provider is closed. */
  close?(): Promise<void>;
}

const MAX_BYTES = 1024 * 1024;

const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city', 'days'],
      additionalProperties: false,
    },
  },
};
const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, likes: { type: 'array', items: { type: 'string' } } },
  required: ['name', 'age', 'likes'],
  additionalProperties: false,
};

type Delta = ChatCompletionChunk['choices'][number]['delta'];
const deltasOf = (chunks: readonly ChatCompletionChunk[], index: number): Delta[] =>
  chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index).map(({ delta }) => delta));
const textOf = (chunks: readonly ChatCompletionChunk[], index = 0): string =>
  deltasOf(chunks, index)
    .map(({ content }) => content ?? '')
    .join('');

/** What every adapter promises the relay, whatever stands behind it. Call it from a test file. */
export function describeUpstreamConformance(name: string, makeProvider: () => Promise<ProviderUnderTest>): void {
  describe(`${name} keeps the port's promises`, () => {
    let subject: ProviderUnderTest;
    beforeEach(async () => {
      subject = await makeProvider();
    });
    afterEach(async () => {
      await subject.provider.close();
      await subject.close?.();
    });

    const ask = (overrides: CallOverrides = {}) => answered(subject.provider, chatCall(subject.model, overrides));
    const plain = async (overrides: CallOverrides = {}): Promise<ChatCompletion> => {
      const answer = await ask(overrides);
      expect(answer.status).toBe(200);
      return ChatCompletion.parse(JSON.parse((await answer.collect(MAX_BYTES)).toString()));
    };
    const streamed = async (overrides: CallOverrides = {}): Promise<ChatCompletionChunk[]> =>
      chunksOf(await pumped(await ask({ ...overrides, stream: true })));

    it('answers plainly with a chat completion whose usage adds up', async () => {
      const { choices, usage } = await plain();
      expect(choices).toHaveLength(1);
      expect(choices[0]).toMatchObject({
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: expect.stringMatching(/\S/) },
      });
      expect(usage?.prompt_tokens).toBeGreaterThan(0);
      expect(usage?.completion_tokens).toBeGreaterThan(0);
      expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    });

    it('streams one id throughout: role first, one finish reason, usage in a chunk of its own, then [DONE]', async () => {
      const chunks = await streamed();
      expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
      expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
      expect(chunks.flatMap(({ choices }) => choices.flatMap((choice) => choice.finish_reason ?? []))).toEqual(['stop']);
      expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
      const last = chunks.at(-1);
      expect(last?.choices).toEqual([]);
      expect(last?.usage?.total_tokens).toBe((last?.usage?.prompt_tokens ?? 0) + (last?.usage?.completion_tokens ?? 0));
    });

    it('reports usage at the end of a stream also when the caller declined it', async () => {
      const chunks = await streamed({ request: { stream_options: { include_usage: false } } });
      expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
    });

    it('never answers with more tokens than the bound, whatever the caller asked for', async () => {
      for (const request of [{}, { max_tokens: 500 }, { max_completion_tokens: 500 }, { max_tokens: 500, max_completion_tokens: 500 }]) {
        const { choices, usage } = await plain({ maxOutputTokens: 2, request });
        expect(usage?.completion_tokens).toBeLessThanOrEqual(2);
        expect(choices[0]?.finish_reason).toBe('length');
        const chunks = await streamed({ maxOutputTokens: 2, request });
        expect(chunks.at(-1)?.usage?.completion_tokens).toBeLessThanOrEqual(2);
      }
    });

    it('gives every choice of n > 1, plain and streamed, or refuses the request without asking the provider', async () => {
      if (subject.hasOneChoiceOnly) {
        const outcome = await subject.provider.call(chatCall(subject.model, { request: { n: 2 } }));
        // Another deployment of the model may be able to.
        expect(outcome).toMatchObject({ ok: false, kind: 'rejected', retryable: true, status: null, param: 'n' });
        return;
      }
      const { choices } = await plain({ request: { n: 2 } });
      expect(choices.map(({ index }) => index)).toEqual([0, 1]);
      const chunks = await streamed({ request: { n: 2 } });
      expect(textOf(chunks, 0)).toMatch(/\S/);
      expect(textOf(chunks, 1)).toMatch(/\S/);
    });

    it('calls the tool it must call, with arguments that fit its schema', async () => {
      const { choices } = await plain({ request: { tools: [TOOL], tool_choice: 'required' } });
      expect(choices[0]?.finish_reason).toBe('tool_calls');
      const call = choices[0]?.message.tool_calls?.[0];
      expect(call).toMatchObject({ id: expect.stringMatching(/\S/), type: 'function', function: { name: 'get_weather' } });
      expect(JSON.parse(call?.function?.arguments ?? '')).toEqual({ city: expect.any(String), days: expect.any(Number) });
    });

    it('streams a tool call as OpenAI does: id, type and name in its first piece, arguments in pieces that join to JSON', async () => {
      const chunks = await streamed({ request: { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'get_weather' } } } });
      const pieces = deltasOf(chunks, 0).flatMap((delta) => delta.tool_calls ?? []);
      expect(pieces[0]).toMatchObject({ index: 0, id: expect.any(String), type: 'function', function: { name: 'get_weather' } });
      const text = pieces.map((piece) => String(Object(piece['function'])['arguments'] ?? '')).join('');
      expect(JSON.parse(text)).toEqual({ city: expect.any(String), days: expect.any(Number) });
    });

    it('fills in the JSON Schema it is given', async () => {
      const response_format = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: PERSON } } as const;
      const { choices } = await plain({ request: { response_format } });
      expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({
        name: expect.any(String),
        age: expect.any(Number),
        likes: expect.any(Array),
      });
    });

    it('takes tool results, images, system prompts, text beyond ASCII and fields it does not know', async () => {
      const { choices } = await plain({
        request: {
          messages: [
            { role: 'system', content: 'Sei höflich. 请用中文。' },
            {
              role: 'user',
              content: [
                { type: 'text', text: 'What is this? 👋' },
                { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==' } },
              ],
            },
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln","days":1}' } }],
            },
            { role: 'tool', tool_call_id: 'call_1', content: '{"sky":"clear"}' },
          ],
          tools: [TOOL],
          a_field_of_next_year: { enabled: true },
        },
      });
      expect(choices[0]?.message.role).toBe('assistant');
    });

    it('hands over the next chunk only when the reader is done with the one before', async () => {
      let active = 0;
      let mostActive = 0;
      const parts: Buffer[] = [];
      const answer = await ask({ stream: true });
      await answer.pump(async (part) => {
        mostActive = Math.max(mostActive, ++active);
        await new Promise((resolve) => setImmediate(resolve));
        parts.push(part);
        active--;
      });
      expect(mostActive).toBe(1);
      expect(chunksOf(Buffer.concat(parts).toString()).at(-1)?.usage).toBeTruthy();
    });

    it('does not blame the provider for the time the reader takes', async () => {
      const idleTimeoutMs = 40;
      const answer = await ask({ stream: true, idleTimeoutMs });
      const parts: Buffer[] = [];
      await answer.pump(async (part) => {
        if (parts.length === 0) await new Promise((resolve) => setTimeout(resolve, idleTimeoutMs * 3));
        parts.push(part);
      });
      expect(Buffer.concat(parts).toString()).toContain('[DONE]');
    });

    it('stops at abort: the running pump rejects and no chunk follows', async () => {
      const answer = await ask({ stream: true });
      let calls = 0;
      const pump = answer.pump(() => {
        calls++;
        answer.abort();
      });
      await expect(pump).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'aborted' });
      expect(calls).toBe(1);
    });

    it('stops at abort also while the reader holds a chunk, and before anybody reads', async () => {
      const held = await ask({ stream: true });
      const pump = held.pump(() => {
        setImmediate(() => held.abort());
        return new Promise(() => {});
      });
      await expect(pump).rejects.toMatchObject({ reason: 'aborted' });
      const unread = await ask();
      unread.abort();
      await expect(unread.collect(MAX_BYTES)).rejects.toBeInstanceOf(UpstreamCut);
    });

    it('does not call for a caller who is gone already', async () => {
      const outcome = await subject.provider.call(chatCall(subject.model, { signal: AbortSignal.abort() }));
      expect(outcome).toMatchObject({ ok: false, kind: 'cancelled', retryable: false });
    });

    it('stops at the signal of the caller as it does at abort', async () => {
      const caller = new AbortController();
      const answer = await ask({ stream: true, signal: caller.signal });
      let calls = 0;
      const pump = answer.pump(() => {
        calls++;
        caller.abort();
      });
      await expect(pump).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'aborted' });
      expect(calls).toBe(1);
    });

    it('takes an abort after the end, and a second one, without complaint', async () => {
      const caller = new AbortController();
      const answer = await ask({ signal: caller.signal });
      const body = await answer.collect(MAX_BYTES);
      answer.abort();
      answer.abort();
      caller.abort();
      expect(JSON.parse(body.toString())).toMatchObject({ object: 'chat.completion' });
    });

    it('passes on the error of a reader that fails', async () => {
      const broken = new Error('The client hung up.');
      const thrown = await ask({ stream: true });
      await expect(
        thrown.pump(() => {
          throw broken;
        }),
      ).rejects.toBe(broken);
      const rejected = await ask({ stream: true });
      await expect(rejected.pump(() => Promise.reject(broken))).rejects.toBe(broken);
    });

    it('refuses to collect more than it may', async () => {
      const answer = await ask();
      await expect(answer.collect(20)).rejects.toMatchObject({ reason: 'too_large' });
    });

    it('keeps concurrent calls apart', async () => {
      const [few, many] = await Promise.all([
        Promise.all(Array.from({ length: 10 }, () => plain({ maxOutputTokens: 1 }))),
        Promise.all(Array.from({ length: 10 }, () => streamed())),
      ]);
      for (const { usage } of few) expect(usage?.completion_tokens).toBeLessThanOrEqual(1);
      for (const chunks of many) expect(textOf(chunks)).toBe(textOf(many[0] ?? []));
    });

    it('answers a call after close with a fault instead of rejecting', async () => {
      await subject.provider.close();
      expect(await subject.provider.call(chatCall(subject.model))).toMatchObject({
        ok: false,
        kind: 'failed',
        retryable: true,
        status: null,
      });
    });
  });
}
