import type { Tallygate, Video } from '@tallygate/sdk';
import { InvalidArgumentError } from 'commander';
import type { CommandWorld } from '../command.ts';

const MS_PER_SECOND = 1000;
const CLEAR_LINE = '\r\u001b[K';

/** Waits until a video is completed or has failed. On a terminal, one line shows the progress; elsewhere each change is a new line. */
export async function followVideo(world: CommandWorld, client: Tallygate, videoId: string, everySeconds: number): Promise<Video> {
  const { err, signal } = world;
  let told = '';
  try {
    return await client.videos.wait(videoId, {
      signal,
      pollMs: everySeconds * MS_PER_SECOND,
      onProgress: ({ status, progress }) => {
        const text = `${status} ${progress} %`;
        if (text !== told) err.write(err.isTty ? `${CLEAR_LINE}${text}` : `${text}\n`);
        told = text;
      },
    });
  } finally {
    if (err.isTty && told !== '') err.write('\n');
  }
}

export function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 3_600) return value;
  throw new InvalidArgumentError('Expected up to 3600 seconds.');
}
