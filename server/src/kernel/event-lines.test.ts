import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventLines } from './event-lines.ts';

const read = (text: string, sizes: readonly number[]): string => {
  const lines = new EventLines();
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    parts.push(lines.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...parts, lines.end()]).toString();
};

describe('lines of events', () => {
  test.each([
    ['data: x\r\rdata: y\r\r', 'data: x\n\ndata: y\n\n'],
    ['\ufeffdata: x\n\n', 'data: x\n\n'],
    ['\ufeffdata: x\r\r', 'data: x\n\n'],
    ['data: x\r\n\r\n', 'data: x\r\n\r\n'],
    ['data: \ufeffx\n\n', 'data: \ufeffx\n\n'],
    ['\r', '\n'],
  ])('%j are %j', (text, lines) => {
    expect(read(text, [1_000])).toBe(lines);
  });

  test('are the same lines for every division into chunks', () => {
    const texts = fc.array(fc.constantFrom('data: x', '\r', '\n', '\r\n', '\ufeff')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }), (text, sizes) => {
        const linesOf = (stream: string) => stream.split(/\r\n|\n|\r/);
        expect(linesOf(read(text, sizes))).toEqual(linesOf(text.replace(/^\ufeff/, '')));
      }),
    );
  });

  test('that end in CR are not waited behind', () => {
    const lines = new EventLines();
    expect(lines.push(Buffer.from('data: [DONE]\r\r')).toString()).toBe('data: [DONE]\n\n');
  });

  test('pass as the bytes they are where nothing is to be changed', () => {
    const chunk = Buffer.from('data: x\r\n\r\ndata: y\n\n');
    expect(new EventLines().push(chunk)).toBe(chunk);
  });
});
