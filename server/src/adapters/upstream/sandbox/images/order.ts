import type { ImageEditRequest, ImageGenerationRequest } from '@tallygate/contract';
import { type Rejection, rejection } from '../rejection.ts';
import type { Quality } from './image-tokens.ts';
import type { References } from './references.ts';

export type ImageRequest = ImageGenerationRequest | ImageEditRequest;
export type Format = 'png' | 'jpeg' | 'webp';

/** What to make, with every "auto" decided. */
export interface Order {
  readonly ok: true;
  readonly width: number;
  readonly height: number;
  readonly quality: Quality;
  readonly format: Format;
  readonly background: 'transparent' | 'opaque';
  readonly count: number;
}

const LARGEST_SIDE = 4096;
const LARGEST_AREA = 3840 * 2304;
const QUALITIES: Readonly<Record<string, Quality>> = { low: 'low', medium: 'medium', high: 'high', standard: 'medium', hd: 'high' };

export function orderOf(request: ImageRequest, references: References | undefined): Order | Rejection {
  const [, digits = '', more = ''] = /^(\d+)x(\d+)$/.exec(request.size ?? 'auto') ?? [];
  const [width, height] = digits === '' ? autoSize(references) : [Number(digits), Number(more)];
  if (width < 16 || height < 16 || Math.max(width, height) > LARGEST_SIDE || width * height > LARGEST_AREA) {
    const message = `Invalid size '${request.size}': each side is 16 to ${LARGEST_SIDE} pixels, and both make at most ${LARGEST_AREA}.`;
    return rejection(message, { param: 'size', code: 'invalid_value' });
  }
  const format = request.output_format ?? 'png';
  const background = request.background === 'transparent' ? 'transparent' : 'opaque';
  if (background === 'transparent' && format === 'jpeg')
    return rejection("Transparent background is not supported for output format 'jpeg'.", { param: 'background', code: 'invalid_value' });
  const asked = request.quality ?? 'auto';
  const quality = Object.hasOwn(QUALITIES, asked) ? QUALITIES[asked] : undefined;
  return { ok: true, width, height, quality: quality ?? 'medium', format, background, count: request.n ?? 1 };
}

/** Of OpenAI's three sizes, the one whose shape is the first image's. */
function autoSize(references: References | undefined): readonly [number, number] {
  const [{ widthPixels, heightPixels } = { widthPixels: 1, heightPixels: 1 }] = references?.headers ?? [];
  const shape = widthPixels / heightPixels;
  return shape > 1.2 ? [1536, 1024] : shape < 1 / 1.2 ? [1024, 1536] : [1024, 1024];
}
