import type { Video, VideoRequest } from '@tallygate/contract';
import type { VideoSource } from '../../adapters/upstream/port.ts';
import { type AnswerForm, type Caller, jsonObjectOf, NO_USAGE, type Received, type Requirement, type Work } from '../calls/index.ts';
import { type Owner, ownerOf } from '../files/index.ts';
import { newVideoId } from './stored-video.ts';
import type { StoredVideos } from './stored-videos.ts';
import { idOf } from './upstream-id.ts';
import type { VideoMeasures } from './video-limits.ts';

/** A video that somebody wants. */
export interface VideoWorkOptions extends VideoMeasures {
  /** As it goes to the provider, but for the measures, which are said above. */
  readonly request: VideoRequest;
  /** What it is made of: our id of that video, and what its provider is told. */
  readonly source: (VideoSource & { readonly videoId: string }) | null;
  /** How long it will be in the end: an extension is longer than what is charged of it. */
  readonly wholeSeconds: number;
  /** The one deployment that can make it: a video or a character that it needs lives there. */
  readonly deployment: string | undefined;
  readonly createdAt: Date;
}

const ENDPOINT = '/v1/videos';

interface VideoWorkOf {
  readonly received: Pick<Received, 'sha256' | 'files'>;
  readonly caller: Caller;
}

/**
 * The beginning of a job. It is charged for all of its seconds once a provider has taken it, and its row is there before that: so whatever
 * is charged can be followed, and given back. A job whose row a crash has prevented is never charged.
 */
export function videoWork(options: VideoWorkOptions, { received, caller }: VideoWorkOf, videos: StoredVideos): Work {
  const { request, seconds, size, source, deployment } = options;
  const id = newVideoId();
  return {
    kind: 'media_job',
    endpoint: ENDPOINT,
    model: request.model,
    fallbackModels: [],
    isStream: false,
    needs: needsOf(request, source),
    output: null,
    cheaper: source && source.how !== 'extension' ? 'choose a shorter video' : 'lower `seconds`',
    estimatedTokens: 0,
    dialects: [
      {
        endpoint: ENDPOINT,
        request: { ...request, seconds: String(seconds), size, ...(source && { madeOf: { how: source.how, id: source.id } }) },
        ...(received.files.length > 0 && { files: received.files }),
        form: jobForm(options, (job) => begunVideo(id, job, options)),
      },
    ],
    ...(deployment !== undefined && { deployment }),
    outlivesHangUp: true,
    bound: () => ({ inputTokens: 0, videoSeconds: seconds }),
    // Only a call that was stopped gets here: no job of it is known, so none is charged.
    estimate: async () => NO_USAGE,
    requestSha256: received.sha256,
    keep: keeping(id, ownerOf(caller.principal), options, videos),
  };
}

/** What is answered of a job that has begun. */
const begunVideo = (
  id: string,
  { status, seconds: told }: Job,
  { request, size, source, wholeSeconds, createdAt }: VideoWorkOptions,
): Video => ({
  id,
  object: 'video',
  model: request.model,
  status,
  progress: 0,
  created_at: Math.floor(createdAt.getTime() / 1000),
  completed_at: null,
  expires_at: null,
  prompt: request.prompt,
  seconds: String(wholeOf(told, wholeSeconds)),
  size,
  remixed_from_video_id: source?.videoId ?? null,
  error: null,
  refund_receipt_id: null,
});

/** Writes the row of a job that a provider has taken. */
const keeping =
  (
    id: string,
    owner: Owner,
    { request, size, source, wholeSeconds, createdAt }: VideoWorkOptions,
    videos: StoredVideos,
  ): NonNullable<Work['keep']> =>
  async (answer, _cost, { target }, { requestId, receiptId }) => {
    const job = jobOf(answer);
    if (!job) throw new Error('What was read as a job is one');
    await videos.insert(owner, {
      id,
      request_id: requestId,
      receipt_id: receiptId,
      deployment: target.deployment.name,
      provider: target.deployment.provider,
      job_id: job.id,
      model: target.model.id,
      seconds: wholeOf(job.seconds, wholeSeconds),
      size,
      prompt: request.prompt,
      remixed_from: source?.videoId ?? null,
      status: job.status,
      created_at: createdAt,
    });
  };

const CAPABILITY = {
  remix: { capability: 'remix', param: 'video_id' },
  edit: { capability: 'video_edits', param: 'video' },
  extension: { capability: 'video_extensions', param: 'video' },
} as const satisfies Record<VideoSource['how'], Requirement>;

const needsOf = ({ characters }: VideoRequest, source: VideoSource | null): Requirement[] => [
  ...(source ? [CAPABILITY[source.how]] : []),
  ...(characters && characters.length > 0 ? [{ capability: 'video_characters', param: 'characters' }] : []),
];

interface Job {
  readonly id: string;
  readonly status: 'queued' | 'in_progress';
  /** How long the provider says that the video will be; undefined where it does not say it. */
  readonly seconds: number | undefined;
}

/** Longer than any provider makes one: who says more counts something else. */
const LONGEST_SECONDS = 3_600;

/** A second that is begun is charged. */
function secondsIn(said: unknown): number | undefined {
  const seconds = typeof said === 'string' ? Number(said) : said;
  return typeof seconds === 'number' && seconds > 0 && seconds <= LONGEST_SECONDS ? Math.ceil(seconds) : undefined;
}

/** Of what was asked for and what its provider makes of that, the longer: it bills what it makes. */
const wholeOf = (told: number | undefined, wholeSeconds: number): number => Math.max(wholeSeconds, told ?? 0);

/** Whatever it has come to already, even to an end: whoever follows it will see that. */
function jobOf(answer: unknown): Job | undefined {
  const id = idOf(answer);
  if (id === undefined) return undefined;
  const { status, seconds }: Readonly<Record<string, unknown>> = Object(answer);
  return { id, status: status === 'in_progress' ? 'in_progress' : 'queued', seconds: secondsIn(seconds) };
}

/** @param asked how many seconds are charged, of how many that it will have in the end */
const jobForm = (asked: Pick<VideoWorkOptions, 'seconds' | 'wholeSeconds'>, shown: (job: Job) => Video): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    const job = jobOf(value);
    if (!job) return undefined;
    const more = wholeOf(job.seconds, asked.wholeSeconds) - asked.wholeSeconds;
    return {
      contentType: 'application/json',
      usage: { ...NO_USAGE, video_seconds: asked.seconds + more },
      delivered: { text: '', scale: 1 },
      value,
      toBytes: () => Buffer.from(JSON.stringify(shown(job))),
    };
  },
  usageIn: () => ({ ...NO_USAGE, video_seconds: asked.seconds }),
  openStream() {
    throw new Error('This endpoint does not stream');
  },
});
