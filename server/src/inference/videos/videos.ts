import type { BlobStore, ByteRange, StoredBlob } from '../../adapters/blobs/port.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Owner } from '../files/index.ts';
import { type FollowDeps, jobOf } from './follow.ts';
import { isRunning, type Variant, type VideoRow } from './stored-video.ts';
import type { StoredVideos, VideoContent } from './stored-videos.ts';

/** What was seen so lately is told again: clients ask many times a second. */
const FRESH_MS = 2_000;
/** Longer than that nobody is kept waiting for a provider: what was last seen is told then. */
const LOOK_TIMEOUT_MS = 5_000;

interface OpenVideo {
  readonly content: VideoContent;
  /** @throws Problem `storage_unavailable` */
  read(range: ByteRange | undefined): Promise<StoredBlob>;
}

/** Videos as their owners see them. */
export interface Videos {
  /** @throws Problem `not_found` */
  get(owner: Owner, id: string): Promise<VideoRow>;
  list: StoredVideos['list'];
  /** @throws Problem `not_found` */
  delete(owner: Owner, id: string): Promise<void>;
  /** @throws Problem `not_found`; `conflict` while there is nothing to be downloaded yet */
  open(owner: Owner, id: string, variant: Variant): Promise<OpenVideo>;
}

export function createVideos(deps: FollowDeps): Videos {
  const { videos, blobs, clock } = deps;
  return {
    async get(owner, id) {
      const video = await videos.get(owner, id);
      if (!isRunning(video) || clock.now() - video.looked_at.getTime() < FRESH_MS) return video;
      return refreshed(video, deps);
    },
    list: (owner, query) => videos.list(owner, query),
    delete: (owner, id) => videos.delete(owner, id),
    async open(owner, id, variant) {
      const video = await videos.get(owner, id);
      const content = (await videos.contents(id)).find((one) => one.variant === variant);
      if (!content) throw noContent(video, variant);
      return { content, read: (range) => openBlob(blobs, content, range) };
    },
  };
}

/** Asks the provider how far it is. What comes to an end is seen to by whoever follows the job, and told when that is done. */
async function refreshed(video: VideoRow, deps: FollowDeps): Promise<VideoRow> {
  const seen = await jobOf(video, deps, AbortSignal.timeout(LOOK_TIMEOUT_MS))?.look();
  if (!seen || seen.state === 'unknown') return video;
  if (seen.state === 'running') return (await deps.videos.running(video.id, seen)) ?? video;
  await deps.videos.hurry(video.id);
  return video;
}

async function openBlob(blobs: BlobStore, { key }: VideoContent, range: ByteRange | undefined): Promise<StoredBlob> {
  const blob = await blobs.get(key, range && { range }).catch((cause: unknown) => {
    throw new Problem('storage_unavailable', 'Videos cannot be read at the moment: repeat the request later.', {
      retryAfterSeconds: 30,
      cause,
    });
  });
  if (!blob) throw new Problem('not_found', 'The video has just been deleted, or has expired.', { param: 'video_id' });
  return blob;
}

function noContent(video: VideoRow, variant: Variant): Problem {
  if (isRunning(video))
    return new Problem('conflict', `The video is ${video.status}: its bytes are there when it is completed.`, { retryAfterSeconds: 5 });
  if (video.status === 'failed')
    return new Problem(
      'not_found',
      `There is no such video: its job failed (${video.error?.code ?? 'failed'}), and was given back in full.`,
    );
  if (variant === 'video') return new Problem('not_found', 'The bytes of the video have expired.', { param: 'video_id' });
  return new Problem('not_found', `The provider made no ${variant} of the video, or it has expired.`, { param: 'variant' });
}
