type Quality = 'low' | 'medium' | 'high';

/** Tokens of one image out by quality, for 1024×1024 and for the two oblong sizes (OpenAI, "Image generation", cost and latency). */
const TOKENS: Readonly<Record<Quality, { readonly square: number; readonly oblong: number }>> = {
  low: { square: 272, oblong: 408 },
  medium: { square: 1056, oblong: 1584 },
  high: { square: 4160, oblong: 6240 },
};
const SQUARE_PIXELS = 1024 * 1024;
/** What each partial image of a stream adds (the same page). */
export const PARTIAL_IMAGE_TOKENS = 100;
/** The most that one image in can cost: 4,160 or 6,240 at high fidelity, and the tiles of the picture beside them. */
export const MOST_INPUT_IMAGE_TOKENS = 8_000;

/** What one image costs at most; where quality or size are left to the provider, the dearest of what it may choose. */
export function mostImageTokens(size: string | null | undefined, quality: string | null | undefined): number {
  const { square, oblong } = TOKENS[qualityOf(quality)];
  const [width, height] = (size ?? 'auto').split('x').map(Number);
  if (!width || !height || Number.isNaN(width)) return oblong;
  const pixels = width * height;
  // Beyond the sizes of the table, in proportion to the area, generously.
  const inProportion = Math.ceil((oblong * pixels) / SQUARE_PIXELS);
  if (pixels <= SQUARE_PIXELS && width === height) return Math.max(square, inProportion > oblong ? inProportion : square);
  return pixels <= SQUARE_PIXELS * 1.5 ? oblong : inProportion;
}

/** `standard` and `hd` are older names; what is not known counts as the dearest. */
function qualityOf(quality: string | null | undefined): Quality {
  if (quality === 'low' || quality === 'medium') return quality;
  return quality === 'standard' ? 'medium' : 'high';
}
