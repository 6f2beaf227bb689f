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

it('gives up on an event that never ends, in one line or in many', () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const line = new ServerSentEvents();
  expect(() => {
    for (let i = 0; i < 9; i++) line.push(megabyte);
  }).toThrow(expect.objectContaining({ reason: 'too_large' }));
  const lines = new ServerSentEvents();
  expect(() => {
    for (let i = 0; i < 9; i++) lines.push(Buffer.concat([Buffer.from('data:'), megabyte, Buffer.from('\n')]));
  }).toThrow(expect.objectContaining({ reason: 'too_large' }));
});
