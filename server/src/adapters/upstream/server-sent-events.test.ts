import { expect, it } from 'vitest';
import { ServerSentEvents } from './server-sent-events.ts';

const STREAM =
  ': a comment\n\nevent: greeting\ndata: {"text": "héllo 👋"}\n\ndata: one\r\ndata: two\r\n\r\nid: 7\nretry: 10\nevent: empty\n\nevent:tight\rdata:x\r\rdata\n\n';
const EVENTS = [
  { event: 'greeting', data: '{"text": "héllo 👋"}' },
  { event: 'message', data: 'one\ntwo' },
  { event: 'tight', data: 'x' },
  { event: 'message', data: '' },
];

it.each([1, 2, 3, 7, 1000])('reads the same events from pieces of %i bytes, whatever those cut', (size) => {
  const reader = new ServerSentEvents();
  const bytes = Buffer.from(STREAM);
  const events = [];
  for (let at = 0; at < bytes.length; at += size) events.push(...reader.push(bytes.subarray(at, at + size)));
  expect([...events, ...reader.end()]).toEqual(EVENTS);
});

it('takes a last event without the blank line behind it', () => {
  const reader = new ServerSentEvents();
  expect(reader.push(Buffer.from('event: last\ndata: x'))).toEqual([]);
  expect(reader.end()).toEqual([{ event: 'last', data: 'x' }]);
});

const MEGABYTE = Buffer.alloc(1024 * 1024, 'x');

it.each([
  ['one line', [Buffer.from('data: '), ...Array.from({ length: 65 }, () => MEGABYTE)]],
  ['many lines', Array.from({ length: 65 }, () => Buffer.concat([Buffer.from('data:'), MEGABYTE, Buffer.from('\n')]))],
])('leaves an event out that is too large, in %s, and reads on behind it', (_, chunks) => {
  const reader = new ServerSentEvents();
  expect(reader.push(Buffer.from('data: before\n\n'))).toHaveLength(1);
  for (const chunk of chunks) expect(reader.push(chunk)).toEqual([]);
  expect(reader.isTooLarge).toBe(true);
  expect(reader.push(Buffer.from('\n\ndata: behind\n\n'))).toEqual([{ event: 'message', data: 'behind' }]);
});

it('gives up on what has neither end nor the form of an event', () => {
  const reader = new ServerSentEvents();
  expect(() => {
    for (let at = 0; at < 65; at += 1) reader.push(MEGABYTE);
  }).toThrow(expect.objectContaining({ reason: 'reset' }));
});
