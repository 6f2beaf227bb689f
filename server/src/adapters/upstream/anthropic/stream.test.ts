import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOf } from '../conformance-calls.ts';
import { UpstreamCut } from '../port.ts';
import { ChunkTranslation } from './stream.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const CREATED = 1_763_712_000;

/** The translation of a body that arrives in pieces of so many bytes. */
function translated(body: Buffer, size = body.length): string {
  const translation = new ChunkTranslation(CREATED);
  const said: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) said.push(translation.push(body.subarray(at, at + size)));
  return Buffer.concat([...said, translation.end()]).toString();
}

const deltas = (text: string) => chunksOf(text).flatMap(({ choices }) => choices.map(({ delta }) => delta));
const events = (...list: object[]): Buffer => Buffer.from(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const START = { type: 'message_start', message: { id: 'msg_1', model: 'claude', usage: { input_tokens: 9, output_tokens: 1 } } };
const TEXT = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const HI = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } };
const finish = (stop_reason: string, more: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason, ...more },
  usage: { output_tokens: 2 },
});
const STOP = { type: 'message_stop' };

describe('a streamed answer', () => {
  it('is OpenAI’s chunks: role, text, finish reason, usage, [DONE]', () => {
    const chunks = chunksOf(translated(fixture('text.sse')));
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Grüß dich' },
      { content: ', Welt 👋' },
      {},
      undefined,
    ]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, 'stop', undefined]);
    expect(chunks[0]).toMatchObject({ id: 'msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY', created: CREATED, model: 'claude-haiku-4-5-20251001' });
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 3725,
      completion_tokens: 15,
      total_tokens: 3740,
      prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 500, cache_write_1h_tokens: 200 },
    });
  });

  it.each(['text.sse', 'thinking-with-tools.sse'])('is the same whatever its bytes are cut into: %s', (name) => {
    const body = fixture(name);
    const whole = translated(body);
    for (const size of [1, 2, 3, 17, 100]) expect(translated(body, size)).toBe(whole);
    expect(translated(Buffer.from(body.toString().replaceAll('\n', '\r\n')), 5)).toBe(whole);
  });

  it('has its thoughts as they come, once more in one piece with their signatures, and each tool call once with its pieces behind it', () => {
    const text = translated(fixture('thinking-with-tools.sse'));
    const all = deltas(text);
    expect(all.flatMap((delta) => delta['reasoning_content'] ?? [])).toEqual(['Two cities,', ' two calls.']);
    expect(all.flatMap((delta) => (delta['reasoning_details'] ? [delta['reasoning_details']] : []))).toMatchObject([
      [
        { type: 'reasoning.text', text: 'Two cities, two calls.', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=', index: 0 },
        { type: 'reasoning.encrypted', data: 'EmwKAhgBEgy3va3pzix=', index: 1 },
      ],
    ]);
    expect(all.flatMap((delta) => delta.tool_calls ?? [])).toEqual([
      { index: 0, id: 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', type: 'function', function: { name: 'get_weather', arguments: '' } },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: ' "Köln"}' } },
      { index: 1, id: 'toolu_02', type: 'function', function: { name: 'list_cities', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(chunksOf(text).at(-2)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(chunksOf(text).at(-1)?.usage).toMatchObject({ prompt_tokens: 472, completion_tokens_details: { reasoning_tokens: 40 } });
  });

  it('that comes through the answering tool is text', () => {
    const start = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't', name: 'tallygate_structured_answer', input: {} },
    };
    const input = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } };
    const text = translated(events(START, start, input, { type: 'content_block_stop', index: 0 }, finish('tool_use'), STOP));
    expect(deltas(text)).toEqual([{ role: 'assistant', content: '' }, { content: '{"a":1}' }, {}]);
    expect(chunksOf(text)[2]?.choices[0]?.finish_reason).toBe('stop');
  });

  it('that is refused tells why, before it ends', () => {
    const text = translated(
      events(START, finish('refusal', { stop_details: { type: 'refusal', explanation: 'That could do harm.' } }), STOP),
    );
    expect(deltas(text)).toEqual([{ role: 'assistant', content: '' }, { refusal: 'That could do harm.' }, {}]);
    expect(chunksOf(text)[2]?.choices[0]?.finish_reason).toBe('content_filter');
  });

  it('says nothing before there is content, so that another provider may still answer', () => {
    const translation = new ChunkTranslation(CREATED);
    expect(translation.push(events(START, { type: 'ping' })).toString()).toBe('');
    expect(translation.push(events(TEXT)).toString()).toContain('"role":"assistant"');
  });

  it('that breaks off with an error ends with OpenAI’s, and with nothing behind it', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Over\nloaded' } };
    const text = translated(events(START, TEXT, HI, error, HI, STOP));
    expect(text.split('\n\n').at(-2)).toBe(
      'data: {"error":{"message":"Over loaded","type":"server_error","param":null,"code":"overloaded_error"}}',
    );
  });

  it('has a finish reason also where the provider named none', () => {
    expect(chunksOf(translated(events(START, TEXT, HI, STOP))).at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('that ends without its own end is cut, as is one with an event that is none', () => {
    expect(() => translated(events(START, TEXT, HI))).toThrow(expect.objectContaining({ name: 'UpstreamCut', reason: 'reset' }));
    expect(() => translated(Buffer.from('<html>Bad gateway</html>'))).toThrow(expect.objectContaining({ reason: 'reset' }));
    expect(() => translated(Buffer.from('data: {"type"\n\n'))).toThrow(expect.objectContaining({ reason: 'reset' }));
  });

  it('tells what the prompt came to while it runs, and everything once it has ended', () => {
    const translation = new ChunkTranslation(CREATED);
    expect(translation.usageSoFar()).toBeUndefined();
    translation.push(events(START, TEXT, HI));
    expect(translation.usageSoFar()).toMatchObject({
      prompt_tokens: 9,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 },
    });
    expect(translation.finalUsage()).toBeUndefined();
    translation.push(events(finish('end_turn')));
    expect(translation.usageSoFar()).toMatchObject({ prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 });
    expect(translation.finalUsage()).toEqual(translation.usageSoFar());
  });

  it('says usage as soon as it is known, so that a connection lost behind it costs no estimate', () => {
    const translation = new ChunkTranslation(CREATED);
    expect(translation.push(events(START, TEXT, HI, finish('end_turn'))).toString()).toContain('"completion_tokens":2');
    expect(() => translation.end()).toThrow(expect.objectContaining({ reason: 'reset' }));
  });

  it('is translated or cut, whatever the events are: a translation has no third way', () => {
    const types = [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'error',
      'ping',
    ];
    const parts = [
      'text',
      'thinking',
      'redacted_thinking',
      'tool_use',
      'text_delta',
      'thinking_delta',
      'signature_delta',
      'input_json_delta',
    ];
    const part = fc.oneof(
      fc.jsonValue(),
      fc.record({ type: fc.constantFrom(...parts), text: fc.jsonValue(), partial_json: fc.jsonValue(), input: fc.jsonValue() }),
    );
    const event = fc.record({
      type: fc.constantFrom(...types),
      index: fc.oneof(fc.nat(2), fc.jsonValue()),
      message: fc.jsonValue(),
      content_block: part,
      delta: fc.oneof(part, fc.record({ stop_reason: fc.string() })),
      usage: fc.jsonValue(),
      error: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(event, fc.jsonValue())), fc.integer({ min: 1, max: 64 }), (list, size) => {
        const body = Buffer.from(list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''));
        try {
          expect(translated(body, size)).toMatch(/^(data: .*\n\n)+$/);
        } catch (error) {
          if (!(error instanceof UpstreamCut)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });
});
