import {
  contract,
  VideoCharacterRequest,
  VideoEditRequest,
  VideoExtensionRequest,
  VideoRemixRequest,
  VideoRequest,
} from '@tallygate/contract';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import type { VideoSource } from '../../adapters/upstream/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Catalog, CatalogModel } from '../../money/catalog/index.ts';
import { type Caller, type Operation, operation, type Received, type Work } from '../calls/index.ts';
import { ownerOf } from '../files/index.ts';
import { characterWork } from './character-work.ts';
import { completedVideo } from './completed-video.ts';
import { shownVideo } from './shown-video.ts';
import type { StoredCharacters } from './stored-characters.ts';
import type { StoredVideos } from './stored-videos.ts';
import { extensionOf, measuresOf } from './video-limits.ts';
import { videoWork } from './video-work.ts';

interface VideoOperationDeps {
  readonly videos: StoredVideos;
  readonly characters: StoredCharacters;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

const { createVideo, generateVideo, remixVideo, editVideo, extendVideo, createVideoCharacter } = contract.inference;

/** What begins a job, and what makes the characters for them. Keys that are narrowed to `/v1/videos` may take each of the ways there. */
export function videoOperations(deps: VideoOperationDeps): Operation[] {
  const endpoint = createVideo.path;
  const takes = 'json_or_form';
  const create = (request: VideoRequest, received: Received, caller: Caller) => creationWork(request, { received, caller }, deps);
  return [
    operation(createVideo, { takes, schema: VideoRequest, work: create }),
    operation(generateVideo, { endpoint, takes, schema: VideoRequest, work: create }),
    operation(remixVideo, {
      ...{ endpoint, takes, schema: VideoRemixRequest },
      work: (remix, received, caller) =>
        derivedWork({ ...remix, how: 'remix', id: received.params?.['video_id'] ?? '' }, { received, caller }, deps),
    }),
    operation(editVideo, {
      ...{ endpoint, takes, schema: VideoEditRequest },
      work: ({ video: { id }, ...edit }, received, caller) => derivedWork({ ...edit, how: 'edit', id }, { received, caller }, deps),
    }),
    operation(extendVideo, {
      ...{ endpoint, takes, schema: VideoExtensionRequest },
      work: ({ video: { id }, ...extension }, received, caller) =>
        derivedWork({ ...extension, how: 'extension', id }, { received, caller }, deps),
    }),
    operation(createVideoCharacter, {
      ...{ endpoint, takes, schema: VideoCharacterRequest },
      work: async (request, received, caller) => {
        const video = await shownVideo(request, { received, caller }, deps);
        return characterWork({ request, video, createdAt: new Date(deps.clock.now()) }, { received, caller }, deps.characters);
      },
    }),
  ];
}

interface Asked {
  readonly received: Received;
  readonly caller: Caller;
}

const PICTURE = 'input_reference';

async function creationWork(request: VideoRequest, asked: Asked, deps: VideoOperationDeps): Promise<Work> {
  requirePicture(request, asked.received);
  const measures = measuresOf(request, modelOf(request.model, deps));
  const cast = await castOf(request, asked.caller, deps);
  // What it would be made of is said by paths of their own, where its owner is looked at.
  const { madeOf: _notHere, remixed_from_video_id: _norHere, characters: _ours, ...wanted } = request;
  return videoWork(
    {
      ...measures,
      request: VideoRequest.parse({ ...wanted, ...(cast && { characters: cast.characters }) }),
      source: null,
      wholeSeconds: measures.seconds,
      deployment: cast?.deployment,
      createdAt: new Date(deps.clock.now()),
    },
    asked,
    deps.videos,
  );
}

/** A model that is not there, or makes no videos, is refused where all are. */
const modelOf = (
  id: string,
  { catalog }: VideoOperationDeps,
): Pick<CatalogModel, 'id' | 'videoSeconds' | 'videoExtensionSeconds' | 'videoSizes'> =>
  catalog.find(id) ?? { id, videoSeconds: [], videoExtensionSeconds: [], videoSizes: [] };

/** The provider has none of the files that are stored here. */
function requirePicture({ [PICTURE]: picture }: VideoRequest, { files }: Received): void {
  const misnamed = files.find(({ field }) => field !== PICTURE);
  if (misnamed)
    throw invalidInput([{ loc: ['body', misnamed.field], msg: `is no file of this form: expected ${PICTURE}`, type: 'unknown' }]);
  if (files.length > 1) throw invalidInput([{ loc: ['body', PICTURE], msg: 'must be one picture', type: 'too_many' }]);
  if (typeof picture === 'object' && picture !== null && 'file_id' in picture && picture.file_id)
    throw invalidInput([{ loc: ['body', PICTURE], msg: 'must be sent as a file of the form, or as an `image_url`', type: 'unsupported' }]);
}

/** Who is to appear, under the names of the provider that they live at. @throws Problem where no one provider has them all */
async function castOf({ characters }: VideoRequest, { principal }: Caller, deps: VideoOperationDeps) {
  if (!characters || characters.length === 0) return undefined;
  const found = await deps.characters.all(
    ownerOf(principal),
    characters.map(({ id }) => id),
    'characters',
  );
  const [deployment, ...others] = new Set(found.map((one) => one.deployment));
  if (others.length > 0)
    throw invalidInput([
      { loc: ['body', 'characters'], msg: 'live at different providers: create them for one model', type: 'invalid_value' },
    ]);
  return { deployment, characters: characters.map((one, index) => ({ ...one, id: found[index]?.upstream_id ?? '' })) };
}

interface Derivation {
  readonly how: VideoSource['how'];
  /** Of the video that it is made of. */
  readonly id: string;
  readonly prompt: string;
  readonly seconds?: string;
}

/** Everything else is as in the video it is made of; and it is made where that one is. */
async function derivedWork({ how, id, prompt, seconds }: Derivation, asked: Asked, deps: VideoOperationDeps): Promise<Work> {
  if (asked.received.files.length > 0) throw invalidInput([{ loc: ['body'], msg: 'takes no files', type: 'unsupported' }]);
  const source = await completedVideo(deps.videos, asked.caller, id, how === 'remix' ? 'video_id' : 'video');
  const { model, size, deployment } = source;
  const charged = how === 'extension' ? extensionOf(seconds ?? '', modelOf(model, deps)) : source.seconds;
  return videoWork(
    {
      ...{ seconds: charged, size, deployment, createdAt: new Date(deps.clock.now()) },
      request: VideoRequest.parse({ model, prompt }),
      source: { how, id: source.job_id, videoId: source.id },
      wholeSeconds: how === 'extension' ? source.seconds + charged : source.seconds,
    },
    asked,
    deps.videos,
  );
}
