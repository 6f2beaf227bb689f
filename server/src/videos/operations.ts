import { contract, VideoRemixRequest, VideoRequest } from '@tallygate/contract';
import type { Catalog } from '../catalog/index.ts';
import { ownerOf } from '../files/index.ts';
import { type Caller, type Operation, operation, type Received, type Work } from '../inference/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { invalidInput } from '../kernel/invalid-input.ts';
import { Problem } from '../kernel/problem.ts';
import type { StoredVideos } from './stored-videos.ts';
import { measuresOf } from './video-limits.ts';
import { videoWork } from './video-work.ts';

interface VideoOperationDeps {
  readonly videos: StoredVideos;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

const { createVideo, generateVideo, remixVideo } = contract.inference;

/** What begins a job. Keys that are narrowed to `/v1/videos` may take each of the ways there. */
export function videoOperations(deps: VideoOperationDeps): Operation[] {
  const create = (request: VideoRequest, received: Received, caller: Caller) => creationWork(request, { received, caller }, deps);
  const remix = (request: VideoRemixRequest, received: Received, caller: Caller) => remixWork(request, { received, caller }, deps);
  const endpoint = createVideo.path;
  return [
    operation(createVideo, { takes: 'json_or_form', schema: VideoRequest, work: create }),
    operation(generateVideo, { endpoint, takes: 'json_or_form', schema: VideoRequest, work: create }),
    operation(remixVideo, { endpoint, takes: 'json_or_form', schema: VideoRemixRequest, work: remix }),
  ];
}

interface Asked {
  readonly received: Received;
  readonly caller: Caller;
}

const PICTURE = 'input_reference';

function creationWork(request: VideoRequest, asked: Asked, { videos, catalog, clock }: VideoOperationDeps): Work {
  requirePicture(request, asked.received);
  const model = catalog.find(request.model);
  // A model that is not there, or makes no videos, is refused where all are.
  const measures = measuresOf(request, model ?? { id: request.model, videoSeconds: [], videoSizes: [] });
  // What it would be a remix of is said by the path of a remix, where its owner is looked at.
  const { remixed_from_video_id: _notHere, ...wanted } = request;
  return videoWork({ request: VideoRequest.parse(wanted), ...measures, remixOf: null, createdAt: new Date(clock.now()) }, asked, videos);
}

/** The provider has none of the files that are stored here. */
function requirePicture({ [PICTURE]: picture }: VideoRequest, { files }: Received): void {
  const misnamed = files.find(({ field }) => field !== PICTURE);
  if (misnamed)
    throw invalidInput([{ loc: ['body', misnamed.field], msg: `is no file of this form: expected ${PICTURE}`, type: 'unknown' }]);
  if (files.length > 1) throw invalidInput([{ loc: ['body', PICTURE], msg: 'must be one picture', type: 'too_many' }]);
  if (typeof picture === 'object' && picture !== null && 'file_id' in picture && picture.file_id)
    throw invalidInput([{ loc: ['body', PICTURE], msg: 'must be sent as a file of the form, or as an `image_url`', type: 'unsupported' }]);
}

/** Everything but the prompt is as in the video it is made of; and it is made where that one is. */
async function remixWork(remix: VideoRemixRequest, asked: Asked, { videos, clock }: VideoOperationDeps): Promise<Work> {
  const source = await videos.get(ownerOf(asked.caller.principal), asked.received.params?.['video_id'] ?? '');
  if (source.status !== 'completed')
    throw new Problem('conflict', `The video is ${source.status}: only a completed one can be remixed.`, { param: 'video_id' });
  const { model, seconds, size, id, deployment, job_id } = source;
  const request = VideoRequest.parse({ ...remix, model, remixed_from_video_id: job_id });
  return videoWork({ request, seconds, size, remixOf: { id, deployment }, createdAt: new Date(clock.now()) }, asked, videos);
}
