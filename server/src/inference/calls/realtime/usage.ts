import type { ReceiptUsage } from '@tallygate/contract';
import { isCount, isRecord, NO_USAGE, partIn } from '../usage.ts';

/**
 * What a `response.done` says of its usage; undefined where that is no report. Where what was cached is not told apart, it counts as text, the
 * part that costs least when it is fresh: what was fresh sound is never taken for cached.
 */
export function realtimeUsage(stated: unknown): ReceiptUsage | undefined {
  if (!isRecord(stated)) return undefined;
  const { input_tokens: input, output_tokens: output, input_token_details: details, output_token_details: outDetails } = stated;
  if (!isCount(input) || !isCount(output)) return undefined;
  const audio = partIn(details, 'audio_tokens', input) ?? 0;
  const image = partIn(details, 'image_tokens', input - audio) ?? 0;
  const cached = partIn(details, 'cached_tokens', input) ?? 0;
  const cachedParts = isRecord(details) ? details['cached_tokens_details'] : undefined;
  const cachedAudio = partIn(cachedParts, 'audio_tokens', Math.min(audio, cached)) ?? 0;
  const cachedImage = partIn(cachedParts, 'image_tokens', Math.min(image, cached - cachedAudio)) ?? 0;
  const audioOut = partIn(outDetails, 'audio_tokens', output) ?? 0;
  return {
    ...NO_USAGE,
    input_tokens: input,
    cached_input_tokens: Math.min(input - audio - image, cached - cachedAudio - cachedImage),
    output_tokens: output,
    reasoning_tokens: partIn(outDetails, 'reasoning_tokens', output - audioOut) ?? 0,
    ...(audio > 0 && { audio_input_tokens: audio }),
    ...(cachedAudio > 0 && { cached_audio_input_tokens: cachedAudio }),
    ...(image > 0 && { image_input_tokens: image }),
    ...(cachedImage > 0 && { cached_image_input_tokens: cachedImage }),
    ...(audioOut > 0 && { audio_output_tokens: audioOut }),
  };
}
