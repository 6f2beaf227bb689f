import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedMultipart, partsOf } from './parts.ts';

async function* inPieces(body: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array, void, undefined> {
  let at = 0;
  for (const size of sizes) {
    if (at >= body.length) break;
    yield body.subarray(at, at + size);
    at += size;
  }
  if (at < body.length) yield body.subarray(at);
}

async function read(body: string | Buffer, { boundary = 'B', sizes = [] as number[] } = {}) {
  const parts: { headers: Record<string, string>; content: Buffer }[] = [];
  for await (const { headers, content } of partsOf(inPieces(Buffer.from(body), sizes), boundary)) {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    parts.push({ headers: Object.fromEntries(headers), content: Buffer.concat(pieces) });
  }
  return parts;
}
const texts = async (body: string) => (await read(body)).map(({ content }) => content.toString());

describe('the parts of a body', () => {
  test('are read byte for byte, for every division into chunks', async () => {
    // Contents with the delimiter's own bytes are the ones that a search could mistake.
    const nearDelimiter = fc.array(fc.constantFrom('\r', '\n', '-', '\r\n--', '\r\n--Boun', 'B', 'x'), { maxLength: 12 });
    const content = fc.oneof(
      nearDelimiter.map((pieces) => Buffer.from(pieces.join(''))),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 }),
        async (contents, sizes) => {
          fc.pre(contents.every((bytes) => !`\r\n${bytes.toString('latin1')}`.includes('\r\n--Boundary')));
          const body = Buffer.concat([
            ...contents.flatMap((bytes, index) => [Buffer.from(`--Boundary\r\nX-At: ${index}\r\n\r\n`), bytes, Buffer.from('\r\n')]),
            Buffer.from('--Boundary--\r\n'),
          ]);
          const parts = await read(body, { boundary: 'Boundary', sizes });
          expect(parts.map((part) => part.content)).toEqual(contents);
          expect(parts.map((part) => part.headers)).toEqual(contents.map((_, index) => ({ 'x-at': String(index) })));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('are between a preamble and an epilogue that are ignored', async () => {
    expect(await texts('hello\r\n--B\r\nA: 1\r\n\r\none\r\n--B  \r\nA: 2\r\n\r\n\r\n--B--\r\nbye\r\n--B\r\nA: 3\r\n\r\n')).toEqual([
      'one',
      '',
    ]);
    expect(await texts('--B--')).toEqual([]);
  });

  test.each([
    ['nothing at all', ''],
    ['no boundary', 'hello'],
    ['no last boundary', '--B\r\nA: 1\r\n\r\none\r\n--B'],
    ['an end within the content', '--B\r\nA: 1\r\n\r\none'],
    ['an end within the headers', '--B\r\nA: 1\r\n'],
    ['a boundary that goes on', '--B\r\nA: 1\r\n\r\none\r\n--Bee\r\n\r\n--B--'],
    ['a line that is no header', '--B\r\nno header\r\n\r\none\r\n--B--'],
    ['a folded header', '--B\r\nA: 1\r\n 2\r\n\r\none\r\n--B--'],
    ['a bare line feed in a header', '--B\r\nA: 1\nB: 2\r\n\r\none\r\n--B--'],
    ['a header twice', '--B\r\nA: 1\r\na: 2\r\n\r\none\r\n--B--'],
    ['headers that never end', `--B\r\nA: ${'1'.repeat(10_000)}\r\n\r\none\r\n--B--`],
    ['line feeds alone', '--B\nA: 1\n\none\n--B--\n'],
  ])('are refused with %s', (_what, body) => expect(read(body)).rejects.toThrow(MalformedMultipart));

  test('are refused with headers that are not UTF-8', () =>
    expect(read(Buffer.from('--B\r\nA: \xff\r\n\r\none\r\n--B--', 'latin1'))).rejects.toThrow(/not UTF-8/));

  test('are never read ahead of who asks for them', async () => {
    let pulled = 0;
    async function* endless() {
      yield Buffer.from('--B\r\nA: 1\r\n\r\n');
      for (;;) {
        pulled++;
        yield Buffer.alloc(1000, 'x');
      }
    }
    const parts = partsOf(endless(), 'B');
    const { value } = await parts.next();
    const content = value?.content[Symbol.asyncIterator]();
    expect(pulled).toBe(0);
    for (const expected of [1, 2, 3]) {
      await content?.next();
      expect(pulled).toBe(expected);
    }
  });
});
