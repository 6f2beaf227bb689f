import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inlineAudioTokens } from './inline-audio.ts';
import { recordingLength } from './recording-length.ts';
import { createRecordings } from './recordings.ts';

const recordings = createRecordings();
afterAll(() => recordings.close());

const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'fixtures', name));
async function* inPieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
}

test('several recordings at once are each given their own length', async () => {
  const names = ['one-second.m4a', 'opus.ogg', 'adpcm.wav', 'one-second.flac'];
  const lengths = await Promise.all(names.map((name) => recordings.lengthOf(() => inPieces(fixture(name)))));
  expect(lengths).toEqual(names.map((name) => recordingLength(fixture(name))));
});

test('a recording that breaks off while it is read fails alone', async () => {
  async function* broken() {
    yield Buffer.alloc(1);
    throw new Error('gone');
  }
  const [fails, goesOn] = await Promise.allSettled([recordings.lengthOf(broken), recordings.lengthOf(() => inPieces(fixture('vbr.mp3')))]);
  expect(fails).toMatchObject({ status: 'rejected', reason: new Error('gone') });
  expect(goesOn).toMatchObject({ status: 'fulfilled', value: recordingLength(fixture('vbr.mp3')) });
});

test('audio inside of a request is tokens by its length, and unknown where one cannot be read', async () => {
  const second = fixture('one-second.flac').toString('base64');
  expect(await inlineAudioTokens([], recordings)).toBe(0);
  expect(await inlineAudioTokens([second, second], recordings)).toBe(2 * (32 + 16));
  expect(await inlineAudioTokens([second, 'AAAA'], recordings)).toBeUndefined();
  expect(await inlineAudioTokens([undefined], recordings)).toBeUndefined();
});
