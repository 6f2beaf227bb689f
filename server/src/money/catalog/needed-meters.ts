import type { Model, PriceMeter } from '@tallygate/contract';

/** What a model of a kind is charged by. Of each list one price has to be there: a meter without a price would be free. */
const NEEDED: Readonly<Record<Model['kind'], readonly (readonly PriceMeter[])[]>> = {
  chat: [['input_tokens'], ['output_tokens']],
  completion: [['input_tokens'], ['output_tokens']],
  embedding: [['input_tokens']],
  image: [['input_tokens'], ['image_input_tokens'], ['image_output_tokens']],
  realtime: [['input_tokens'], ['audio_input_tokens'], ['output_tokens'], ['audio_output_tokens']],
  rerank: [['search_units', 'input_tokens']],
  moderation: [],
  // By characters, or by tokens in and tokens of sound out.
  tts: [
    ['input_characters', 'input_tokens'],
    ['input_characters', 'output_tokens'],
  ],
  stt: [['audio_seconds', 'audio_input_tokens']],
  video: [['video_seconds']],
};

/** The meters that a model of this kind is charged by and these prices lack. */
export const metersWithoutPrice = (kind: Model['kind'], unit: Readonly<Partial<Record<PriceMeter, unknown>>>): string[] =>
  NEEDED[kind].filter((meters) => meters.every((meter) => unit[meter] === undefined)).map((meters) => meters.join(' or '));
