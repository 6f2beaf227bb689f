import { expect, test } from 'vitest';
import { expectTurns } from '../../../kernel/testing/event-loop.ts';
import { requireRealtimeFields } from '../cost-fields/index.ts';
import { takeClientEvent } from './client-events.ts';
import { ConversationBound } from './conversation-bound.ts';
import { readClientEvent } from './events.ts';
import type { SessionHost } from './session-host.ts';
import { SessionSettings } from './session-settings.ts';
import { Transcripts } from './transcripts.ts';

const BYTES = 6 * 1024 * 1024;

/** A session whose provider takes everything. */
function sessionWith(sent: string[]): SessionHost {
  const session = {
    conversation: new ConversationBound({ contextWindow: null, imageTokenBound: 1_000 }),
    settings: new SessionSettings('gpt-realtime', 'gpt-realtime'),
    provider: { send: (frame: Buffer) => void sent.push(frame.toString('latin1', 0, 200)) },
    ask: async () => {},
  } as unknown as SessionHost;
  return Object.assign(session, { transcripts: new Transcripts(session) });
}

const detecting = (detection: object) => ({
  type: 'session.update',
  session: { type: 'realtime', audio: { input: { turn_detection: detection } } },
});

const listOf = (item: string) => `[${`${item},`.repeat(BYTES / (item.length + 1) - 2)}${item}]`;
const textOf = (unit: string) => `"${unit.repeat(BYTES / unit.length - 1)}"`;
const SHAPES: Readonly<Record<string, string>> = {
  'empty objects': listOf('{}'),
  parts: listOf('{"type":"input_text","text":"a"}'),
  'open brackets': '['.repeat(BYTES),
  'text that is not ASCII': textOf('é'),
  escapes: textOf('\\u0001'),
  backslashes: textOf('\\\\'),
};
const EVENTS: Readonly<Record<string, (value: string) => string>> = {
  'an item': (value) => `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":${value}}}`,
  sound: (value) => `{"type":"input_audio_buffer.append","audio":${value}}`,
  'a change of the session': (value) => `{"type":"session.update","session":{"type":"realtime","tools":${value}}}`,
};

test.each(Object.entries(EVENTS))('%s of 6 MB holds the event loop for 50 ms and takes 8 times its size at most', async (what, eventOf) => {
  const sent: string[] = [];
  let refused = 0;
  for (const [shape, value] of Object.entries(SHAPES)) {
    const frame = Buffer.from(eventOf(value));
    await expectTurns(`${what} of ${shape}`, frame.length, async () => {
      try {
        await takeClientEvent(sessionWith(sent), await readClientEvent(frame, true), frame);
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'validation_failed' });
        refused += 1;
      }
    });
  }
  expect([sent.length > 0, refused > 0]).toEqual([true, true]);
});

test.each([
  ['Type', { type: 'input_audio_buffer.clear', Type: 'response.create' }],
  ['Session', { type: 'session.update', session: { type: 'realtime' }, Session: {} }],
  ['Response', { type: 'input_audio_buffer.commit', Response: {} }],
  ['Item', { type: 'conversation.item.create', item: { type: 'message' }, Item: {} }],
  ['Type', { type: 'conversation.item.create', item: { type: 'message', Type: 'item_reference' } }],
  ['Image_Url', { type: 'conversation.item.create', item: { type: 'message', content: [{ type: 'input_image', Image_Url: 'x' }] } }],
  ['createResponse', detecting({ type: 'server_vad', createResponse: true })],
  ['Transcription', { type: 'session.update', session: { type: 'realtime', audio: { input: { Transcription: { model: 'whisper-1' } } } } }],
  ['Max_Output_Tokens', { type: 'session.update', session: { type: 'realtime', Max_Output_Tokens: 9 } }],
])('an event with %s, which a provider may read as another name, is refused', async (name, event) => {
  const sent: string[] = [];
  await expect(takeClientEvent(sessionWith(sent), event, Buffer.from(''))).rejects.toMatchObject({
    code: 'validation_failed',
    extras: { errors: [{ loc: expect.arrayContaining([name]), type: 'misspelt' }] },
  });
  expect(sent).toEqual([]);
});

test('a response with a misspelt bound is refused', () => {
  expect(() => requireRealtimeFields({ Max_Output_Tokens: 9 }, 'response')).toThrow('max_output_tokens');
});
