import * as z from 'zod';

const Count = z.int().min(0);
/** Left out when it is zero, so that a count has one spelling. */
const More = z.int().min(1).optional();

/**
 * What was consumed, by meter. `cached_input_tokens`, `cache_write_tokens`, `cache_write_1h_tokens`, `audio_input_tokens` and
 * `image_input_tokens` are disjoint parts of `input_tokens`; `cached_audio_input_tokens` is a part of `audio_input_tokens`, `cached_image_input_tokens` of `image_input_tokens`;
 * `reasoning_tokens`, `image_output_tokens` and `audio_output_tokens` are parts of `output_tokens`. What tools of the provider used is beside both. The counts that only some requests have are absent when zero.
 */
export const ReceiptUsage = z
  .object({
    input_tokens: Count.meta({ examples: [9] }),
    cached_input_tokens: Count.meta({ examples: [0] }),
    cache_write_tokens: Count.meta({ examples: [0] }),
    output_tokens: Count.meta({ examples: [12] }),
    reasoning_tokens: Count.meta({ examples: [0] }),
    cache_write_1h_tokens: More.meta({ description: 'Part of the input: written to the provider’s cache for an hour.', examples: [1024] }),
    audio_input_tokens: More.meta({ description: 'Part of the input, cached ones included.', examples: [300] }),
    cached_audio_input_tokens: More.meta({ description: 'Part of the audio tokens in.', examples: [256] }),
    image_input_tokens: More.meta({ description: 'Part of the input, cached ones included.', examples: [1290] }),
    cached_image_input_tokens: More.meta({ description: 'Part of the image tokens in.', examples: [1290] }),
    image_output_tokens: More.meta({ description: 'Part of the output.', examples: [4160] }),
    input_characters: More.meta({ description: 'Characters of text to be spoken.', examples: [250] }),
    audio_seconds: More.meta({ description: 'Whole seconds of audio in, rounded up.', examples: [61] }),
    video_seconds: More.meta({ description: 'Whole seconds of video made, rounded up.', examples: [8] }),
    images: More.meta({ description: 'Images made: counted, and priced by their tokens.', examples: [1] }),
    audio_output_tokens: More.meta({ description: 'Part of the output.', examples: [240] }),
    web_searches: More.meta({ description: 'Searches of the web by the provider.', examples: [2] }),
    web_search_previews: More.meta({ description: 'Searches of the web by the provider’s older tool.', examples: [1] }),
    file_searches: More.meta({ description: 'Searches of stored files by the provider.', examples: [1] }),
    container_gigabytes: More.meta({
      description: 'Memory of the containers that the provider ran, gigabytes: of each, for every session of twenty minutes.',
      examples: [1],
    }),
    image_tool_text_input_tokens: More.meta({ description: 'Text tokens that the provider’s image tool took.', examples: [42] }),
    image_tool_image_input_tokens: More.meta({ description: 'Image tokens that the provider’s image tool took.', examples: [800] }),
    image_tool_text_output_tokens: More.meta({ description: 'Text tokens that the provider’s image tool gave.', examples: [120] }),
    image_tool_image_output_tokens: More.meta({ description: 'Image tokens that the provider’s image tool gave.', examples: [1056] }),
    search_units: More.meta({ description: 'Searches of a rerank model: a query with up to a hundred documents each.', examples: [1] }),
  })
  .meta({
    id: 'ReceiptUsage',
    description:
      'What was consumed. Cached, cache-write, audio and image tokens are parts of the input, reasoning, image and audio tokens of the output. What tools of the provider used is beside both. Counts that only some requests have are absent when they are zero.',
    examples: [{ input_tokens: 9, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 12, reasoning_tokens: 0 }],
  });
export type ReceiptUsage = z.infer<typeof ReceiptUsage>;
