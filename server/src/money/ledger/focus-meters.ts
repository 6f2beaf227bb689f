interface FocusMeter {
  /** In the price list. */
  readonly id: string;
  readonly name: string;
  readonly unit: string;
  /** Units that a price is for. */
  readonly priced: 1 | 1_000_000;
}

const tokens = (id: string, name: string): FocusMeter => ({ id, name, unit: 'Tokens', priced: 1_000_000 });
const each = (id: string, name: string, unit: string): FocusMeter => ({ id, name, unit, priced: 1 });

/** The meters of `costLines`, as FOCUS names them. Tokens and characters have their price for a million, as in the price list. */
const METERS: Readonly<Record<string, FocusMeter>> = {
  fresh_input_tokens: tokens('input_tokens', 'Input tokens'),
  cached_input_tokens: tokens('cached_input_tokens', 'Cached input tokens'),
  cache_write_tokens: tokens('cache_write_tokens', 'Cache write tokens'),
  cache_write_1h_tokens: tokens('cache_write_1h_tokens', 'Cache write tokens for an hour'),
  audio_input_tokens: tokens('audio_input_tokens', 'Audio input tokens'),
  cached_audio_input_tokens: tokens('cached_audio_input_tokens', 'Cached audio input tokens'),
  image_input_tokens: tokens('image_input_tokens', 'Image input tokens'),
  cached_image_input_tokens: tokens('cached_image_input_tokens', 'Cached image input tokens'),
  text_output_tokens: tokens('output_tokens', 'Output tokens'),
  image_output_tokens: tokens('image_output_tokens', 'Image output tokens'),
  audio_output_tokens: tokens('audio_output_tokens', 'Audio output tokens'),
  input_characters: { id: 'input_characters', name: 'Input characters', unit: 'Characters', priced: 1_000_000 },
  audio_seconds: each('audio_seconds', 'Audio in', 'Seconds'),
  video_seconds: each('video_seconds', 'Video made', 'Seconds'),
  search_units: each('search_units', 'Rerank searches', 'Searches'),
  web_searches: each('web_searches', 'Web searches', 'Searches'),
  web_search_previews: each('web_search_previews', 'Web searches (preview tool)', 'Searches'),
  file_searches: each('file_searches', 'File searches', 'Searches'),
  container_gigabytes: each('container_gigabytes', 'Container memory for twenty minutes', 'GB'),
  image_tool_text_input_tokens: tokens('image_tool_text_input_tokens', 'Image tool text input tokens'),
  image_tool_image_input_tokens: tokens('image_tool_image_input_tokens', 'Image tool image input tokens'),
  image_tool_text_output_tokens: tokens('image_tool_text_output_tokens', 'Image tool text output tokens'),
  image_tool_image_output_tokens: tokens('image_tool_image_output_tokens', 'Image tool image output tokens'),
  requests: each('requests', 'Requests', 'Requests'),
};

export function focusMeter(meter: string): FocusMeter {
  const found = METERS[meter];
  if (!found) throw new Error(`FOCUS has no name for the meter ${meter}`);
  return found;
}
