import type { ImageHeader } from '../image-header.ts';

export type Quality = 'low' | 'medium' | 'high';

/** Tokens of an image as OpenAI bills gpt-image-1: square, portrait and landscape. */
const OUTPUT_TOKENS: Readonly<Record<Quality, { square: number; portrait: number; landscape: number }>> = {
  low: { square: 272, portrait: 408, landscape: 400 },
  medium: { square: 1056, portrait: 1584, landscape: 1568 },
  high: { square: 4160, portrait: 6240, landscape: 6208 },
};
/** OpenAI bills as many for each image that is shown on the way. */
export const PARTIAL_IMAGE_TOKENS = 100;

const BASE_TOKENS = 65;
const TOKENS_PER_TILE = 129;
const TILE_PIXELS = 512;
/** A picture so long that it has more tiles is made smaller. */
const MOST_TILES = 12;
const EXTRA_OF_HIGH_FIDELITY = { square: 4160, other: 6240 };

/** Of an image that is made. Other sizes than OpenAI's three are billed by their area. */
export function outputTokens(quality: Quality, width: number, height: number): number {
  const { square, portrait, landscape } = OUTPUT_TOKENS[quality];
  if (width === height) return Math.ceil((square * width * height) / 1024 ** 2);
  return Math.ceil(((width < height ? portrait : landscape) * width * height) / (1024 * 1536));
}

/** Of an image that is sent along: a base and as many for each tile of it, when its shorter side is 512 pixels. */
export function inputTokens(
  { widthPixels, heightPixels }: Pick<ImageHeader, 'widthPixels' | 'heightPixels'>,
  fidelity: string | null | undefined,
): number {
  const scale = Math.min(1, TILE_PIXELS / Math.min(widthPixels, heightPixels));
  const tiles = Math.ceil((widthPixels * scale) / TILE_PIXELS) * Math.ceil((heightPixels * scale) / TILE_PIXELS);
  const extra = fidelity !== 'high' ? 0 : widthPixels === heightPixels ? EXTRA_OF_HIGH_FIDELITY.square : EXTRA_OF_HIGH_FIDELITY.other;
  return BASE_TOKENS + TOKENS_PER_TILE * Math.min(tiles, MOST_TILES) + extra;
}
