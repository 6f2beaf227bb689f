import * as z from 'zod';

const Count = z.int().min(0);
/** Left out when it is zero, so that a count has one spelling. */
const More = z.int().min(1).optional();

/**
 * What was consumed, by meter. `cached_input_tokens`, `cache_write_tokens`, `cache_write_1h_tokens`, `audio_input_tokens` and
 * `image_input_tokens` are disjoint parts of `input_tokens`; `cached_image_input_tokens` is a part of `image_input_tokens`;
 * `reasoning_tokens` and `image_output_tokens` are parts of `output_tokens`. The counts that only some requests have are absent when zero.
 */
export const ReceiptUsage = z
  .object({
    input_tokens: Count.meta({ examples: [9] }),
    cached_input_tokens: Count.meta({ examples: [0] }),
    cache_write_tokens: Count.meta({ examples: [0] }),
    output_tokens: Count.meta({ examples: [12] }),
    reasoning_tokens: Count.meta({ examples: [0] }),
    cache_write_1h_tokens: More.meta({ description: 'Part of the input: written to the provider’s cache for an hour.', examples: [1024] }),
    audio_input_tokens: More.meta({ description: 'Part of the input.', examples: [300] }),
    image_input_tokens: More.meta({ description: 'Part of the input, cached ones included.', examples: [1290] }),
    cached_image_input_tokens: More.meta({ description: 'Part of the image tokens in.', examples: [1290] }),
    image_output_tokens: More.meta({ description: 'Part of the output.', examples: [4160] }),
    input_characters: More.meta({ description: 'Characters of text to be spoken.', examples: [250] }),
    audio_seconds: More.meta({ description: 'Whole seconds of audio in, rounded up.', examples: [61] }),
    video_seconds: More.meta({ description: 'Whole seconds of video made, rounded up.', examples: [8] }),
    images: More.meta({ description: 'Images made: counted, and priced by their tokens.', examples: [1] }),
  })
  .meta({
    id: 'ReceiptUsage',
    description:
      'What was consumed. Cached, cache-write, audio and image tokens are parts of the input, reasoning and image tokens of the output. Counts that only some requests have are absent when they are zero.',
    examples: [{ input_tokens: 9, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 12, reasoning_tokens: 0 }],
  });
export type ReceiptUsage = z.infer<typeof ReceiptUsage>;
