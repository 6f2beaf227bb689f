import { Problem } from '../../kernel/problem.ts';
import type { Caller } from '../calls/index.ts';
import { ownerOf } from '../files/index.ts';
import type { VideoRow } from './stored-video.ts';
import type { StoredVideos } from './stored-videos.ts';

/**
 * A video of the caller's own that something can be made of; `param` has named it.
 * @throws Problem `not_found` for another account's as for a missing one; `conflict` before it is made
 */
export async function completedVideo(videos: StoredVideos, { principal }: Caller, id: string, param: string): Promise<VideoRow> {
  const video = await videos.get(ownerOf(principal), id, param);
  if (video.status !== 'completed')
    throw new Problem('conflict', `The video is ${video.status}: only a completed one can be used.`, { param });
  return video;
}
