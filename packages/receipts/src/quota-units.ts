import type { QuotaMeter, ReceiptUsage } from './receipt.ts';

export const QUOTA_METERS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'] as const satisfies readonly QuotaMeter[];

/**
 * What a usage counts against a plan's quota: a request, and its images, or else its tokens, with a character to be spoken counted as one.
 * Seconds of audio and video count beside them.
 */
export function quotaUnits(usage: ReceiptUsage): Readonly<Record<string, bigint>> {
  const { images = 0, audio_seconds: audio = 0, video_seconds: video = 0, input_characters: characters = 0 } = usage;
  return {
    requests: 1n,
    ...(images > 0
      ? { images: BigInt(images) }
      : { tokens: BigInt(usage.input_tokens) + BigInt(usage.output_tokens) + BigInt(characters) }),
    ...(audio > 0 && { audio_seconds: BigInt(audio) }),
    ...(video > 0 && { video_seconds: BigInt(video) }),
  };
}
