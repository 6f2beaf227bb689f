import { Readable } from 'node:stream';
import type { VideoCharacterRequest } from '@tallygate/contract';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import type { UpstreamFile } from '../../adapters/upstream/port.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Caller, Received } from '../calls/index.ts';
import { completedVideo } from './completed-video.ts';
import type { StoredVideos } from './stored-videos.ts';

const FIELD = 'video';

interface Shelf {
  readonly videos: StoredVideos;
  readonly blobs: Pick<BlobStore, 'get'>;
}

/**
 * What shows a character: the file of the form, or the bytes of a video of the caller's own.
 * @throws Problem `validation_failed` where it is neither or both; `not_found`, `conflict`
 */
export async function shownVideo(
  { video }: VideoCharacterRequest,
  { received: { files }, caller }: { readonly received: Received; readonly caller: Caller },
  deps: Shelf,
): Promise<UpstreamFile> {
  const misnamed = files.find(({ field }) => field !== FIELD);
  if (misnamed) throw invalidInput([{ loc: ['body', misnamed.field], msg: `is no file of this form: expected ${FIELD}`, type: 'unknown' }]);
  const [file] = files;
  if (files.length + (video ? 1 : 0) !== 1 || !(file || video))
    throw invalidInput([
      { loc: ['body', FIELD], msg: 'must be one video: a file of the form, or `{"id": …}` of one of yours', type: 'invalid' },
    ]);
  return file ?? storedVideo(video?.id ?? '', caller, deps);
}

/** Read from the blob store anew for every attempt. */
async function storedVideo(id: string, caller: Caller, { videos, blobs }: Shelf): Promise<UpstreamFile> {
  await completedVideo(videos, caller, id, FIELD);
  const content = (await videos.contents(id)).find(({ variant }) => variant === 'video');
  if (!content) throw new Problem('not_found', 'The bytes of the video have expired.', { param: FIELD });
  async function* bytes(key: string) {
    const blob = await blobs.get(key);
    if (!blob)
      throw new Problem('storage_unavailable', 'The video cannot be read at the moment: repeat the request.', { retryAfterSeconds: 1 });
    yield* blob.stream;
  }
  return {
    field: FIELD,
    filename: `${id}.mp4`,
    contentType: content.contentType,
    bytes: content.bytes,
    open: () => Readable.from(bytes(content.key), { objectMode: false }),
  };
}
