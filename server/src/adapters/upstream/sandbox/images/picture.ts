import { hash } from 'node:crypto';
import { breather } from '../../../../kernel/turn.ts';

/** 256 colours, each red, green, blue and opacity. */
export type Palette = Uint8Array;

/** An image as numbers of colours, row by row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
  readonly pixels: Uint8Array;
}

export interface Scene {
  /** Whatever the picture follows from: the same seed paints the same picture. */
  readonly seed: string;
  readonly width: number;
  readonly height: number;
  /** Whether the sky is left out. */
  readonly isTransparent?: boolean;
  /** From 0 to 1: where the sun is on its way, and how far the hills have moved. A picture that does not move is at 0. */
  readonly phase?: number;
}

const SKY = 128;
const HILLS = 4;
const SUN = SKY;
const FIRST_HILL = SUN + 1;
const TURN = 2 * Math.PI;

/** A sun over hills, in colours that follow from the seed. */
export async function paint({ seed, width, height, isTransparent = false, phase = 0 }: Scene): Promise<Picture> {
  const bytes = hash('sha256', seed, 'buffer');
  const at = (index: number): number => (bytes[index] ?? 0) / 256;
  const pixels = new Uint8Array(width * height);
  const rest = breather();
  for (let y = 0; y < height; y += 1) {
    pixels.fill(Math.floor((y / height) * SKY), y * width, (y + 1) * width);
  }
  const radius = Math.min(width, height) * (0.08 + 0.1 * at(2));
  const sunX = width * (0.15 + 0.7 * ((at(3) + phase) % 1));
  const sunY = height * (0.2 + 0.2 * at(4) - 0.08 * Math.sin(Math.PI * phase));
  for (let y = Math.max(0, Math.ceil(sunY - radius)); y < Math.min(height, sunY + radius); y += 1) {
    const half = Math.sqrt(radius * radius - (y - sunY) ** 2);
    pixels.fill(SUN, y * width + Math.max(0, Math.round(sunX - half)), y * width + Math.min(width, Math.round(sunX + half)));
  }
  for (let hill = 0; hill < HILLS; hill += 1) {
    const crest = crestOf({ width, height }, hill, (index) => (at(5 + 4 * hill + index) + (index === 1 ? phase * (hill + 1) : 0)) % 1);
    const top = Math.max(0, Math.floor(Math.min(...sampled(crest))) - 2);
    for (let y = top; y < height; y += 1) {
      const row = y * width;
      for (let x = 0; x < width; x += 1) if (y >= (crest[x] ?? height)) pixels[row + x] = FIRST_HILL + hill;
      if (y % 16 === 0) await rest();
    }
  }
  return { width, height, palette: paletteOf(at, isTransparent), pixels };
}

/** Height of a hill's top in every column, pixels from above. */
function crestOf({ width, height }: { width: number; height: number }, hill: number, at: (index: number) => number): Float32Array {
  const base = height * (0.5 + 0.12 * hill);
  const swing = height * (0.03 + 0.05 * at(0));
  const waves = 1 + Math.floor(3 * at(2));
  return Float32Array.from(
    { length: width },
    (_, x) => base + swing * (Math.sin(TURN * ((x / width) * waves + at(1))) + 0.4 * Math.sin(TURN * ((x / width) * (waves + 2) + at(3)))),
  );
}

/** Enough of the values to tell the least one, up to two pixels. */
const sampled = (values: Float32Array): number[] =>
  Array.from(
    { length: Math.min(512, values.length) },
    (_, index) => values[Math.floor((index * values.length) / Math.min(512, values.length))] ?? 0,
  );

function paletteOf(at: (index: number) => number, isTransparent: boolean): Palette {
  const palette = new Uint8Array(256 * 4);
  const hue = at(0);
  const set = (index: number, [red, green, blue]: readonly [number, number, number], opacity = 255) =>
    palette.set([red, green, blue, opacity], index * 4);
  for (let index = 0; index < SKY; index += 1) {
    const depth = index / SKY;
    set(index, colour(hue + 0.12 * depth, 0.55 - 0.2 * depth, 0.45 + 0.4 * depth), isTransparent ? 0 : 255);
  }
  set(SUN, colour(0.1 + 0.05 * at(1), 0.9, 0.8));
  for (let hill = 0; hill < HILLS; hill += 1) set(FIRST_HILL + hill, colour(hue + 0.3 + 0.06 * at(30), 0.35, 0.42 - 0.09 * hill));
  return palette;
}

/** Hue, saturation and lightness, each from 0 to 1, as red, green and blue up to 255. */
function colour(hue: number, saturation: number, lightness: number): [number, number, number] {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const place = (offset + hue * 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** The picture in blocks, as it is shown while it is being made. @param side of a block, pixels */
export function coarse({ width, height, palette, pixels }: Picture, side: number): Picture {
  const blocks = new Uint8Array(pixels.length);
  for (let y = 0; y < height; y += 1) {
    const from = Math.min(height - 1, Math.floor(y / side) * side + (side >> 1)) * width;
    for (let x = 0; x < width; x += side) {
      blocks.fill(pixels[from + Math.min(width - 1, x + (side >> 1))] ?? 0, y * width + x, y * width + Math.min(width, x + side));
    }
  }
  return { width, height, palette, pixels: blocks };
}
