import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectTurns } from '../testing/event-loop.ts';
import { FrameFault, FrameReader } from './frame-reader.ts';
import { BINARY, CLOSE, CONTINUATION, frameOf, PING, TEXT } from './frames.ts';

const KEY = Buffer.from([0xa1, 0x00, 0x5c, 0xff]);
const RULES = { isMasked: true, mostBytes: 1_000_000 };

/** A message in fragments of the sizes, with a ping before each but the first. */
function fragmented(opcode: number, payload: Buffer, sizes: readonly number[]): Buffer {
  const frames: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, payload.length]) {
    const isLast = at + size >= payload.length;
    const frame = frameOf(at === 0 && frames.length === 0 ? opcode : CONTINUATION, payload.subarray(at, at + size), KEY);
    if (!isLast) frame[0] = (frame[0] ?? 0) & 0x7f;
    if (frames.length > 0) frames.push(frameOf(PING, Buffer.from('there?'), KEY));
    frames.push(frame);
    at += size;
    if (isLast) break;
  }
  return Buffer.concat(frames);
}

/** @param cuts where the network cuts the bytes */
function readAll(bytes: Buffer, cuts: readonly number[], rules = RULES) {
  const reader = new FrameReader(rules);
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b);
  let from = 0;
  return ends.flatMap((to) => {
    const chunk = Buffer.from(bytes.subarray(from, to));
    from = to;
    return [...reader.read(chunk)];
  });
}

test('a message is what was sent, however it is fragmented and cut by the network, with pings between', () => {
  const payload = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 65_000, maxLength: 140_000, size: 'max' }));
  fc.assert(
    fc.property(payload, fc.array(fc.nat(70_000), { maxLength: 5 }), fc.array(fc.nat(150_000), { maxLength: 20 }), (bytes, sizes, cuts) => {
      const sent = Buffer.from(bytes);
      const received = readAll(fragmented(BINARY, sent, sizes), cuts);
      const message = received.find(({ kind }) => kind === 'message');
      expect(message?.kind === 'message' && Buffer.concat(message.blocks).equals(sent)).toBe(true);
      for (const { kind, ...rest } of received) if (kind === 'ping') expect(rest).toEqual({ bytes: Buffer.from('there?') });
    }),
    { numRuns: 30 },
  );
});

test('a text is taken exactly where it is UTF-8, wherever a character is cut', () => {
  const characters = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text));
  const bytes = fc.oneof(characters, fc.uint8Array({ maxLength: 40 }).map(Buffer.from));
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(9), { maxLength: 6 }), fc.nat(65_540), (tail, sizes, before) => {
      const sent = Buffer.concat([Buffer.alloc(before, 'x'), tail]);
      const frames = fragmented(TEXT, sent, [before, ...sizes]);
      if (isUtf8(tail)) expect(readAll(frames, []).at(-1)).toMatchObject({ kind: 'message', isText: true });
      else expect(() => readAll(frames, [])).toThrow(new FrameFault(1007));
    }),
    { numRuns: 100 },
  );
});

describe('what breaks the rules', () => {
  const changed = (frame: Buffer, at: number, bits: number) => {
    frame[at] = (frame[at] ?? 0) ^ bits;
    return frame;
  };
  const code = (value: number) => {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(value);
    return frameOf(CLOSE, payload, KEY);
  };
  test.each<[string, Buffer, number]>([
    ['a frame that is not masked', frameOf(TEXT, Buffer.from('{}'), undefined), 1002],
    ['a compressed frame', changed(frameOf(TEXT, Buffer.from('{}'), KEY), 0, 0x40), 1002],
    ['an unknown kind of frame', frameOf(0x3, Buffer.from('{}'), KEY), 1002],
    ['a continuation of nothing', frameOf(CONTINUATION, Buffer.from('{}'), KEY), 1002],
    [
      'a text in the middle of a text',
      Buffer.concat([changed(frameOf(TEXT, Buffer.from('a'), KEY), 0, 0x80), frameOf(TEXT, Buffer.from('b'), KEY)]),
      1002,
    ],
    ['a fragmented ping', changed(frameOf(PING, Buffer.from('a'), KEY), 0, 0x80), 1002],
    ['a ping of 126 bytes', frameOf(PING, Buffer.alloc(126), KEY), 1002],
    ['a close with half a code', frameOf(CLOSE, Buffer.alloc(1), KEY), 1002],
    ['a close with a code that is never sent', code(1006), 1002],
    ['a close with a code that nobody has', code(2999), 1002],
    ['a close with a reason that is no text', frameOf(CLOSE, Buffer.from([0x03, 0xe8, 0xff]), KEY), 1007],
    ['a message that is too large', frameOf(TEXT, Buffer.alloc(1_000_001, 'x'), KEY).subarray(0, 14), 1009],
    ['a length beyond all numbers', Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.alloc(8, 0xff), KEY]), 1009],
  ])('%s is refused', (_what, bytes, expected) => {
    expect(() => readAll(bytes, [])).toThrow(new FrameFault(expected as FrameFault['code']));
    for (let cut = 1; cut < 14; cut += 1) expect(() => readAll(bytes, [cut])).toThrow(new FrameFault(expected as FrameFault['code']));
  });
});

test('a message of 300,000 fragments of a byte takes eight times its bytes at most', async () => {
  const payload = Buffer.alloc(300_000, 'x');
  const bytes = Buffer.concat(
    Array.from({ length: payload.length }, (_, at) => {
      const frame = frameOf(at === 0 ? TEXT : CONTINUATION, payload.subarray(at, at + 1), KEY);
      if (at < payload.length - 1) frame[0] = (frame[0] ?? 0) & 0x7f;
      return frame;
    }),
  );
  await expectTurns('fragments', bytes.length, async () => {
    const reader = new FrameReader(RULES);
    const kinds: string[] = [];
    for (let at = 0; at < bytes.length; at += 65_536) {
      for (const { kind } of reader.read(Buffer.from(bytes.subarray(at, at + 65_536)))) kinds.push(kind);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(kinds).toEqual(['message']);
  });
});
