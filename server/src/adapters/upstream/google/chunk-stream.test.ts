import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chunksOf } from '../conformance-calls.ts';
import { ChunkStream } from './chunk-stream.ts';

const CONTEXT = { model: 'gemini-3.5-flash', created: 1_763_712_000, id: 'ours', oneCallOnly: false };
const RECORDED = readFileSync(new URL('fixtures/stream.txt', import.meta.url));

function said(
  source: Buffer | string,
  { pieceBytes = 1_000_000, ...context }: Partial<typeof CONTEXT> & { pieceBytes?: number } = {},
): string {
  const bytes = Buffer.from(source);
  const stream = new ChunkStream({ ...CONTEXT, ...context });
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) parts.push(stream.push(bytes.subarray(at, at + pieceBytes)));
  return Buffer.concat([...parts, stream.end()]).toString();
}
const event = (fields: object) => `data: ${JSON.stringify({ responseId: 'r', ...fields })}\r\n\r\n`;
const text = (index: number, said: string, finishReason?: string) => ({ index, content: { parts: [{ text: said }] }, finishReason });

describe('a stream', () => {
  it('begins with the role, tells thoughts and text, gives calls whole, and ends with reason, usage and [DONE]', () => {
    const chunks = chunksOf(said(RECORDED));
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Thinking about it.' },
      { content: 'I will look.' },
      {
        tool_calls: [
          {
            index: 0,
            id: 'call_r1_0_0',
            type: 'function',
            function: { name: 'look', arguments: '{"city":"Köln"}' },
            extra_content: { google: { thought_signature: 'c2ln' } },
          },
        ],
      },
      { tool_calls: [{ index: 1, id: 'call_r1_0_1', type: 'function', function: { name: 'look', arguments: '{"city":"Bonn"}' } }] },
      {},
      undefined,
    ]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 51, completion_tokens_details: { reasoning_tokens: 30 } },
    });
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['chatcmpl-r1']));
  });

  it('is the same wherever its bytes are cut', () => {
    for (const pieceBytes of [1, 2, 3, 7, 64]) expect(said(RECORDED, { pieceBytes })).toBe(said(RECORDED));
  });

  it('of several candidates keeps them apart', () => {
    const chunks = chunksOf(
      said(
        event({ candidates: [text(0, 'a'), text(1, 'b')] }) +
          event({ candidates: [text(1, 'B', 'STOP')] }) +
          event({ candidates: [text(0, 'A', 'MAX_TOKENS')] }),
      ),
    );
    const of = (index: number) => chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index));
    expect(
      of(0)
        .map(({ delta }) => delta.content ?? '')
        .join(''),
    ).toBe('aA');
    expect(
      of(1)
        .map(({ delta }) => delta.content ?? '')
        .join(''),
    ).toBe('bB');
    expect([of(0).at(-1)?.finish_reason, of(1).at(-1)?.finish_reason]).toEqual(['length', 'stop']);
  });

  it('to a blocked prompt is a refusal', () => {
    const chunks = chunksOf(said(event({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } })));
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toMatchObject([
      { role: 'assistant' },
      { refusal: expect.stringContaining('SAFETY') },
      {},
      undefined,
    ]);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 0 });
  });

  it('that was withheld says so, unless something was said', () => {
    const silent = chunksOf(said(event({ candidates: [{ index: 0, finishReason: 'SAFETY' }] })));
    expect(silent[1]?.choices[0]?.delta).toEqual({ refusal: expect.stringContaining('SAFETY') });
    const begun = chunksOf(said(event({ candidates: [text(0, 'Once')] }) + event({ candidates: [{ index: 0, finishReason: 'SAFETY' }] })));
    expect(begun.map(({ choices }) => choices[0]?.delta['refusal'])).toEqual([undefined, undefined, undefined]);
    expect(begun.at(-1)?.choices[0]?.finish_reason).toBe('content_filter');
  });

  it('gives one call alone where the caller declined parallel ones', () => {
    const calls = chunksOf(said(RECORDED, { oneCallOnly: true })).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls).toHaveLength(1);
  });

  it('fails in OpenAI’s form where Google’s does, and says nothing after it', () => {
    const failure = event({ error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } });
    const text1 = said(event({ candidates: [text(0, 'a')] }) + failure + event({ candidates: [text(0, 'b', 'STOP')] }));
    expect(text1).toContain('"content":"a"');
    expect(text1.endsWith('data: {"error":{"message":"Overloaded.","type":"server_error","param":null,"code":"UNAVAILABLE"}}\n\n')).toBe(
      true,
    );
  });

  it('has the largest usage that it told of, and none where text came behind the last', () => {
    const usage = (output: number) => ({ promptTokenCount: 9, candidatesTokenCount: output });
    const first = event({ candidates: [text(0, 'a')], usageMetadata: usage(1_500) });
    const falling = first + event({ candidates: [text(0, 'b', 'STOP')], usageMetadata: usage(5) });
    expect(chunksOf(said(falling)).at(-1)?.usage).toMatchObject({ completion_tokens: 1_500 });
    const goingOn = first + event({ candidates: [text(0, 'b', 'STOP')] });
    expect(chunksOf(said(goingOn)).map((chunk) => chunk.usage)).not.toContainEqual(expect.anything());
    const later = first + event({ candidates: [text(0, 'b', 'STOP')] }) + event({ usageMetadata: usage(1_600) });
    expect(chunksOf(said(later)).at(-1)?.usage).toMatchObject({ completion_tokens: 1_600 });
  });

  it('that stops before every choice has its reason is cut, and its usage so far is known', () => {
    const stream = new ChunkStream(CONTEXT);
    stream.push(Buffer.from(event({ candidates: [text(0, 'a')], usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 } })));
    expect(() => stream.end()).toThrow(expect.objectContaining({ name: 'UpstreamCut', reason: 'reset' }));
    expect(stream.usageSoFar()).toMatchObject({ prompt_tokens: 9, completion_tokens: 1 });
    expect(stream.finalUsage()).toBeUndefined();
    expect(() => new ChunkStream(CONTEXT).end()).toThrow(expect.objectContaining({ reason: 'reset' }));
  });
});
