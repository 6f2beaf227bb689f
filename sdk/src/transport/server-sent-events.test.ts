import { expect, it } from 'vitest';
import { collect } from '../../testing/collect.ts';
import { readServerSentEvents } from './server-sent-events.ts';

async function eventsOf(...pieces: (string | Uint8Array)[]) {
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece));
  return collect(readServerSentEvents(asyncOf(bytes)));
}

async function* asyncOf<T>(items: T[]) {
  yield* items;
}

const TRANSCRIPT =
  ': ping\n\nevent: note\r\ndata: {"text":"Grüße 👋"}\r\n\r\ndata: one\ndata:two\ndata\n\n\rdata:  three\r\rid: 7\ndata: [DONE]\n\n';
const EVENTS = [
  { event: 'note', data: '{"text":"Grüße 👋"}' },
  { event: 'message', data: 'one\ntwo\n' },
  { event: 'message', data: ' three' },
  { event: 'message', data: '[DONE]' },
];

it('reads LF, CR and CRLF lines, comments, named and many-line events', async () => {
  expect(await eventsOf(TRANSCRIPT)).toEqual(EVENTS);
});

it('reads the same events for every division of the bytes, also inside characters and CRLF', async () => {
  const bytes = new TextEncoder().encode(TRANSCRIPT);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    expect(await eventsOf(bytes.subarray(0, cut), bytes.subarray(cut)), `cut at ${cut}`).toEqual(EVENTS);
  }
  expect(await eventsOf(...Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)))).toEqual(EVENTS);
});

it('drops an event that the end of the stream cuts short', async () => {
  expect(await eventsOf('data: whole\n\ndata: half\n')).toEqual([{ event: 'message', data: 'whole' }]);
  expect(await eventsOf('data: whole\n\ndata: ha')).toEqual([{ event: 'message', data: 'whole' }]);
});
