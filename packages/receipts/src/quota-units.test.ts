import { expect, test } from 'vitest';
import { quotaUnits } from './quota-units.ts';

const none = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

test('tokens in and out count once each, whatever they are parts of', () => {
  const usage = { ...none, input_tokens: 10, cached_input_tokens: 4, audio_input_tokens: 3, output_tokens: 5, reasoning_tokens: 2 };
  expect(quotaUnits(usage)).toEqual({ requests: 1n, tokens: 15n });
});

test('a character to be spoken counts as a token', () => {
  expect(quotaUnits({ ...none, input_tokens: 1, input_characters: 250 })).toEqual({ requests: 1n, tokens: 251n });
});

test('images count in the place of the tokens they are made of', () => {
  expect(quotaUnits({ ...none, input_tokens: 50, output_tokens: 4_160, image_output_tokens: 4_160, images: 2 })).toEqual({
    requests: 1n,
    images: 2n,
  });
});

test('seconds count beside the tokens', () => {
  expect(quotaUnits({ ...none, output_tokens: 7, audio_seconds: 61 })).toEqual({ requests: 1n, tokens: 7n, audio_seconds: 61n });
  expect(quotaUnits({ ...none, video_seconds: 8 })).toEqual({ requests: 1n, tokens: 0n, video_seconds: 8n });
});
