import { expect, test } from 'vitest';
import { ConversationBound } from './conversation-bound.ts';

const bound = () => new ConversationBound({ contextWindow: null, imageTokenBound: 1_000 });
const IMAGE = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
const message = (...content: object[]) => ({ type: 'message', role: 'user', content });

test('counts instructions that were set while a response was at work, which has not read them', () => {
  const conversation = bound();
  conversation.configure({ instructions: 'a'.repeat(500) });
  const mark = conversation.mark();
  conversation.configure({ instructions: 'b'.repeat(9_000) });
  conversation.known({ read: 125, written: 10 }, mark);
  expect(conversation.of({})).toBeGreaterThan(9_000);
  expect(conversation.of({})).toBeLessThan(9_500);
  conversation.known({ read: 2_500, written: 10 }, conversation.mark());
  expect(conversation.of({})).toBeLessThan(3_000);
});

test('counts what one response has written for the next, where another one ends later', () => {
  const conversation = bound();
  const [first, second] = [conversation.mark(), conversation.mark()];
  conversation.known({ read: 10, written: 4_000 }, first);
  conversation.known({ read: 10, written: 5 }, second);
  expect(conversation.of({})).toBeGreaterThan(4_000);
});

test('counts a part as an image and as sound where it is both', () => {
  const conversation = bound();
  conversation.add(message({ ...IMAGE, audio: 'AA==' }));
  expect(conversation.of({})).toBeGreaterThan(1_000);
});

test('counts the conversation where an item of the input may name one of it', () => {
  const conversation = bound();
  conversation.add(message({ type: 'input_text', text: 'a'.repeat(9_000) }));
  expect(conversation.of({ input: [message()] })).toBeLessThan(1_000);
  for (const item of [{ type: 'item_reference', id: 'item_1' }, { id: 'item_1' }, 'item_1'])
    for (const times of [1, 3]) expect(conversation.of({ input: Array(times).fill(item) })).toBeGreaterThan(times * 9_000);
});

test.each([{ type: 'audio/pcmu' }, { type: 'audio/pcm', rate: 8_000 }, 'g711_ulaw'])(
  'counts sound that was sent as PCM by the smaller format, once one is spoken of: %j',
  (format) => {
    const sound = Buffer.alloc(48_000).toString('base64');
    const conversation = bound();
    conversation.hear(sound);
    conversation.committed();
    conversation.add(message({ type: 'input_audio', audio: sound }));
    conversation.hear(sound);
    expect(conversation.of({})).toBeLessThan(1_000);
    // A provider that reads the buffer now hears 8,000 bytes a second, a token for each 50 ms of them.
    conversation.configure({ audio: { input: { format } } });
    expect(conversation.of({})).toBeGreaterThanOrEqual((3 * 48_000) / 400);
  },
);

test('counts sound as PCM while sessions say no more than that it is', () => {
  const conversation = bound();
  for (const format of [undefined, null, { type: 'audio/pcm' }, { type: 'audio/pcm', rate: 24_000 }])
    conversation.configure({ audio: { input: { format } } });
  conversation.hear(Buffer.alloc(48_000).toString('base64'));
  expect(conversation.of({})).toBeLessThan(400);
});

test('counts what a provider may have left out, once the truncation is changed', () => {
  const conversation = bound();
  conversation.configure({ truncation: { type: 'retention_ratio', retention_ratio: 0.1 } });
  conversation.add(message({ type: 'input_text', text: 'a'.repeat(9_000) }));
  conversation.known({ read: 100, written: 5 }, conversation.mark());
  expect(conversation.of({})).toBeLessThan(1_000);
  conversation.configure({ instructions: 'Be brief.' });
  expect(conversation.of({})).toBeLessThan(1_000);
  conversation.configure({ truncation: 'disabled' });
  expect(conversation.of({})).toBeGreaterThan(9_000);
});

test('counts a text by its bytes, whatever escapes it has as JSON', () => {
  const conversation = bound();
  conversation.configure({ tools: [{ description: '\u0001"é' }] });
  expect(conversation.of({})).toBe(Buffer.byteLength('[{"description":"\u0001"é"}]') + 256 + 2);
});
