import { breather } from '../../../../kernel/turn.ts';
import { type Picture, paint } from '../images/picture.ts';
import { webp } from '../images/webp.ts';
import { frame, inMacroblocks } from './h264.ts';
import type { VideoJob } from './job.ts';
import { FRAMES_PER_SECOND, mp4 } from './mp4.ts';

export type Variant = 'video' | 'thumbnail' | 'spritesheet';

/** Tiles of a spritesheet, across and down, and the longer side of each, pixels. */
const TILES = { across: 4, down: 3 } as const;
const TILE_PIXELS = 160;

/** What the job has made: the same bytes each time. */
export async function contentOf(job: VideoJob, variant: Variant): Promise<{ contentType: string; bytes: Buffer }> {
  switch (variant) {
    case 'video':
      return { contentType: 'video/mp4', bytes: await video(job) };
    case 'thumbnail':
      return { contentType: 'image/webp', bytes: await webp(await paint(job)) };
    case 'spritesheet':
      return { contentType: 'image/webp', bytes: await webp(await spritesheet(job)) };
    default:
      return variant satisfies never;
  }
}

/** The sun crosses the sky while the hills pass by. */
async function video(job: VideoJob): Promise<Buffer> {
  const count = job.seconds * FRAMES_PER_SECOND;
  const frames: Buffer[] = [];
  const rest = breather();
  for (let number = 0; number < count; number += 1) {
    frames.push(frame(await paint({ ...inMacroblocks(job), seed: job.seed, phase: number / count }), number));
    await rest();
  }
  return mp4(job, frames);
}

/** Moments of the video, row by row. */
async function spritesheet({ seed, width, height }: VideoJob): Promise<Picture> {
  const scale = TILE_PIXELS / Math.max(width, height);
  const tile = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  const sheet = { width: tile.width * TILES.across, height: tile.height * TILES.down };
  const pixels = new Uint8Array(sheet.width * sheet.height);
  let palette = new Uint8Array(256 * 4);
  const count = TILES.across * TILES.down;
  for (let index = 0; index < count; index += 1) {
    const moment = await paint({ ...tile, seed, phase: index / count });
    palette = Uint8Array.from(moment.palette);
    const from = Math.floor(index / TILES.across) * tile.height * sheet.width + (index % TILES.across) * tile.width;
    for (let y = 0; y < tile.height; y += 1)
      pixels.set(moment.pixels.subarray(y * tile.width, (y + 1) * tile.width), from + y * sheet.width);
  }
  return { ...sheet, palette, pixels };
}
