import type {
  Video,
  VideoCharacter,
  VideoEditRequest,
  VideoExtensionRequest,
  VideoReference,
  VideoRemixRequest,
  VideoRequest,
} from './generated/models.ts';
import { Videos as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import { type CallOptions, type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import { sleep } from './transport/deadline.ts';
import { formOf } from './transport/form.ts';
import { pathStep } from './transport/path.ts';

/** What a video shall show. */
export type NewVideo = VideoRequest & {
  /** A picture to begin with, of the size of the video. */
  readonly input_reference?: Blob | { readonly image_url: string } | undefined;
};

/** Who is to appear in videos. */
export interface NewVideoCharacter {
  /** What prompts call it by. */
  readonly name: string;
  /** What shows it: an MP4, or a completed video of yours. */
  readonly video: Blob | VideoReference;
  /** The video model whose provider is to keep it; default: `sora-2`. */
  readonly model?: string | undefined;
}

export interface VideoContentOptions extends CallOptions {
  /** Default: the video itself. */
  readonly variant?: 'video' | 'thumbnail' | 'spritesheet' | undefined;
}

export interface WaitForVideoOptions extends CallOptions {
  /** How long to wait before asking again, milliseconds. Default: 2,000. */
  readonly pollMs?: number | undefined;
  /** Called with the video every time. */
  readonly onProgress?: ((video: Video) => void) | undefined;
}

const POLL_MS = 2_000;

/** `tallygate.videos`: jobs that make videos. They are charged when they begin, and given back when they fail. */
export class Videos extends Generated {
  /** Begins a video. */
  create(request: NewVideo, options: InferenceOptions = {}): Call<Video> {
    return this.#post('/v1/videos', request, options, request.input_reference);
  }

  /** The same under its other address, `/v1/video/generations`. */
  generate(request: NewVideo, options: InferenceOptions = {}): Call<Video> {
    return this.#post('/v1/video/generations', request, options, request.input_reference);
  }

  /** Creates another video of the same length, size and model, from a completed one. */
  remix(videoId: string, request: VideoRemixRequest, options: InferenceOptions = {}): Call<Video> {
    return this.#post(`${videoPath(videoId)}/remix`, request, options);
  }

  /** Begins a video that is a completed one, changed: of the same length, and charged for all of it. */
  edit(request: VideoEditRequest, options: InferenceOptions = {}): Call<Video> {
    return this.#post('/v1/videos/edits', request, options);
  }

  /** Creates an extension of a completed video: charged for the added seconds. */
  extend(request: VideoExtensionRequest, options: InferenceOptions = {}): Call<Video> {
    return this.#post('/v1/videos/extensions', request, options);
  }

  /** Makes a character for the `characters` of videos to come. It costs nothing. */
  createCharacter(request: NewVideoCharacter, options: InferenceOptions = {}): Call<VideoCharacter> {
    const operation = { method: 'POST', path: '/v1/videos/characters', form: formOf({ ...request }), isOnce: true } as const;
    return this.transport.json({ ...operation, headers: inferenceHeaders(options) }, options);
  }

  /** The bytes of a completed video, or of a picture of it, as a response whose body is still to come. */
  content(videoId: string, { variant, ...options }: VideoContentOptions = {}): Call<Response> {
    return this.transport.download({ method: 'GET', path: `${videoPath(videoId)}/content`, query: { variant } }, options);
  }

  /** Asks now and then until the video is `completed` or `failed`. */
  async wait(videoId: string, { pollMs = POLL_MS, onProgress, ...options }: WaitForVideoOptions = {}): Promise<Video> {
    for (;;) {
      const video = await this.get(videoId, options);
      onProgress?.(video);
      if (video.status === 'completed' || video.status === 'failed') return video;
      await sleep(pollMs, options.signal);
    }
  }

  /** @param file what a form is needed for, where it is a file; all else is plain JSON */
  #post<T>(path: string, request: object, options: InferenceOptions, file?: unknown): Call<T> {
    const content = file instanceof Blob ? { form: formOf({ ...request }) } : { body: request };
    return this.transport.json({ method: 'POST', path, ...content, headers: inferenceHeaders(options), isOnce: true }, options);
  }
}

const videoPath = (videoId: string): string => `/v1/videos/${pathStep(videoId)}`;
