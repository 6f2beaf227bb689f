import { describe, expect, test } from 'vitest';
import { costCheckOf } from './index.ts';

/** What multiplies the cost of an image or a video in the prompt is in no hold: it is refused, wherever it is. */

const PATHS = ['/v1/chat/completions', '/v1/responses'];
const DEARER: readonly object[] = [
  { max_pixels: 12_845_056 },
  { min_pixels: 4 },
  { total_pixels: 90_316_800 },
  { vl_high_resolution_images: true },
  { media_resolution: 'MEDIA_RESOLUTION_HIGH' },
  { fps: 10 },
  { max_frames: 768 },
  { video_fps: 10 },
  { num_frames: 64 },
  { image_max_pixels: 99 },
  { image_resolution: 'high' },
];
const PLAIN: readonly object[] = [
  { vl_high_resolution_images: false },
  { vl_high_resolution_images: null },
  { media_resolution: 'MEDIA_RESOLUTION_LOW' },
  { image_resolution: 'auto' },
  { top_p: 1 },
];

describe.each(PATHS)('%s', (path) => {
  const check = costCheckOf(path);

  test.each(DEARER)('%j is refused at the top and in what a provider may read as the request', (fields) => {
    for (const request of [fields, { extra_body: fields }, { parameters: fields }, { foo: { bar: fields } }])
      expect(() => check(request)).toThrow(expect.objectContaining({ code: 'unpriced_feature' }));
  });

  test.each(PLAIN)('%j asks for nothing and passes', (fields) => {
    expect(() => check(fields)).not.toThrow();
  });

  test.each([{ maxPixels: 4 }, { Max_Pixels: 4 }, { 'max-pixels': 4 }])('%j is refused with the name that it means', (fields) => {
    expect(() => check(fields)).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });

  test('a budget of thought passes at the top, where it is held, and in fields of other providers', () => {
    expect(() => check({ thinking_budget: 100 })).not.toThrow();
    expect(() => check({ extra_body: { google: { thinking_config: { thinking_budget: 100 } } } })).not.toThrow();
  });

  test.each([{ extra_body: { thinking_budget: 100 } }, { parameters: { thinking_budget: 100 } }])('%j is refused', (fields) => {
    expect(() => check(fields)).toThrow(expect.objectContaining({ code: 'unpriced_feature' }));
  });
});
