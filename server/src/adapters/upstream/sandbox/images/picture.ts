import { hash } from 'node:crypto';

/**
 * An image of large squares in four colours. Nobody looks at it for long: it has to have its size, to be the same each time, and to cost
 * next to nothing in any format.
 */
export interface Picture {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of a square's side, a multiple of eight: a block of JPEG has one colour. */
  readonly side: number;
  readonly isTransparent: boolean;
  /** The colour of the square at this pixel, a number of {@link COLOURS}. */
  colourAt(x: number, y: number): number;
}

interface Scene {
  /** The same seed paints the same picture. */
  readonly seed: string;
  readonly width: number;
  readonly height: number;
  /** Whether the first colour is left out. */
  readonly isTransparent?: boolean;
}

/** Red, green and blue. From one to the next each value rises by one of two steps, around the end of the byte too: see `webp.ts`. */
export const COLOURS = [
  [24, 40, 72],
  [176, 112, 96],
  [200, 184, 168],
  [96, 224, 192],
] as const;

const BLOCK = 8;
/** A picture has at most so many squares in a row. */
const SQUARES = 32;

export function paint({ seed, width, height, isTransparent = false }: Scene): Picture {
  const side = BLOCK * Math.ceil(Math.max(width, height) / BLOCK / SQUARES);
  const columns = Math.ceil(width / side);
  const squares = hash('shake256', seed, { outputEncoding: 'buffer', outputLength: columns * Math.ceil(height / side) });
  const colourAt = (x: number, y: number): number => (squares[Math.floor(y / side) * columns + Math.floor(x / side)] ?? 0) & 3;
  return { width, height, side, isTransparent, colourAt };
}

/** The picture with so many squares as one, as it is shown while it is being made. */
export function coarse(picture: Picture, squares: number): Picture {
  const side = picture.side * squares;
  return { ...picture, side, colourAt: (x, y) => picture.colourAt(Math.floor(x / side) * side, Math.floor(y / side) * side) };
}
