import { hash } from 'node:crypto';
import { paint } from '../images/picture.ts';
import { webp } from '../images/webp.ts';
import { type Colour, frame } from './h264.ts';
import type { VideoJob } from './job.ts';
import { FRAMES_PER_SECOND, mp4 } from './mp4.ts';

export type Variant = 'video' | 'thumbnail' | 'spritesheet';

/** Tiles of a spritesheet, across and down, and the longer side of each, pixels. */
const TILES = { across: 4, down: 3 } as const;
const TILE_PIXELS = 160;

/** What the job has made: the same bytes each time. */
export function contentOf(job: VideoJob, variant: Variant): { contentType: string; bytes: Buffer } {
  switch (variant) {
    case 'video':
      return { contentType: 'video/mp4', bytes: video(job) };
    case 'thumbnail':
      return { contentType: 'image/webp', bytes: webp(paint(job)) };
    case 'spritesheet':
      return { contentType: 'image/webp', bytes: webp(paint({ ...job, ...sheetOf(job) })) };
    default:
      return variant satisfies never;
  }
}

/** A colour for each second. */
function video(job: VideoJob): Buffer {
  const colours = hash('shake256', job.seed, { outputEncoding: 'buffer', outputLength: 3 * job.seconds });
  const colourOf = (second: number): Colour => {
    const [luma = 0, u = 0, v = 0] = colours.subarray(3 * second);
    return [17 + (luma % 48), offset(u), offset(v)];
  };
  const frames = Array.from({ length: job.seconds * FRAMES_PER_SECOND }, (_, number) =>
    frame(job, colourOf(Math.floor(number / FRAMES_PER_SECOND)), number),
  );
  return mp4(job, frames);
}

/** From 17 to 32, to either side. */
const offset = (byte: number): number => (17 + (byte & 15)) * (byte & 16 ? 1 : -1);

function sheetOf({ width, height }: VideoJob): { width: number; height: number } {
  const scale = TILE_PIXELS / Math.max(width, height);
  const tile = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  return { width: tile.width * TILES.across, height: tile.height * TILES.down };
}
