import { expect, test } from 'vitest';
import { expectTurns } from '../../../../kernel/testing/event-loop.ts';
import { SandboxSocket } from './sandbox-socket.ts';

const open = () => new SandboxSocket('gpt-realtime', 'abc', () => {});
const item = (text: string) =>
  JSON.stringify({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  });

test('a client that does not read what the sandbox says is not heard any further', async () => {
  const socket = open();
  let heard = 0;
  const speaking = (async () => {
    for (; heard < 100; heard += 1) await socket.send(item('hello'));
  })();
  // More turns than a hundred small events take.
  for (let turn = 0; turn < 1_000; turn += 1) await Promise.resolve();
  expect(heard).toBeLessThan(20);
  const said: string[] = [];
  const ended = socket.pump((frame) => void said.push(JSON.parse(frame.toString()).type));
  await speaking;
  socket.close(1000, '');
  expect(await ended).toEqual({ code: 1000, reason: '' });
  expect(said.filter((type) => type === 'conversation.item.added').length).toBeGreaterThan(80);
});

test('a session of the sandbox does not grow with what it is set to', async () => {
  const socket = open();
  const said: string[] = [];
  const ended = socket.pump((frame) => void said.push(JSON.parse(frame.toString()).type));
  for (let count = 0; count < 4; count += 1)
    await socket.send(JSON.stringify({ type: 'session.update', session: { [`name${count}`]: 'x'.repeat(600_000) } }));
  await expect.poll(() => said.slice(1)).toEqual(['session.updated', 'error', 'error', 'error']);
  socket.close(1000, '');
  await ended;
});

test.each([
  ['escapes', '\u0001'.repeat(2_000_000)],
  ['plain text', 'x'.repeat(14_000_000)],
])('an event of 14 MB of %s to the sandbox holds the event loop for 50 ms at most', async (what, text) => {
  const event = Buffer.from(item(text));
  await expectTurns(what, event.length, async () => {
    const socket = open();
    const ended = socket.pump((frame) => {
      if (frame.includes('conversation.item.done')) socket.close(1000, '');
    });
    await socket.send(event);
    await ended;
  });
});
