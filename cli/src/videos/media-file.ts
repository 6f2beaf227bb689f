import { basename } from 'node:path';
import type { CommandWorld } from '../command.ts';
import { openGiven } from '../given-file.ts';

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
};

/** A picture or a video to be sent along; what it is follows from its name. */
export async function openMedia(world: CommandWorld, path: string): Promise<File> {
  const bytes = await openGiven(world, path);
  const type = TYPES[path.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
  return new File([bytes], basename(path), { type });
}
