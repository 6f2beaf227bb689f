import type { Pool } from 'pg';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import { reasonOf, type UpstreamProvider } from '../../adapters/upstream/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Catalog } from '../../money/catalog/index.ts';
import { chargeOf, type Refunds } from '../../money/ledger/index.ts';
import type { Deployments } from '../calls/index.ts';
import { isGone, type JobState, ProviderJob } from './provider-job.ts';
import { isRunning, type Variant, type VideoError, type VideoRow } from './stored-video.ts';
import type { StoredVideos, VideoContent } from './stored-videos.ts';

export interface FollowDeps {
  readonly pool: Pool;
  readonly videos: StoredVideos;
  readonly blobs: BlobStore;
  readonly catalog: Catalog;
  readonly deployments: Pick<Deployments, 'serving'>;
  readonly refunds: Pick<Refunds, 'refund'>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long what a job has made can be downloaded. */
  readonly keptMs: number;
}

/** Nobody else takes a step meanwhile; a worker that dies in it is followed by another after that. */
const LEASE_MS = 10 * 60_000;
const SOONEST_MS = 2_000;
const LATEST_MS = 30_000;
/** For what is not waited for. */
const UNHURRIED_MS = 600_000;
const LONGEST_RETRY_AFTER_MS = 600_000;
/** A job that has not ended by then has failed. */
const DEADLINE_MS = 24 * 3_600_000;
/** A settlement is in the ledger within seconds; one that is not by then was cut off by a crash, and its hold is void. */
const SETTLED_WITHIN_MS = 3_600_000;
/** So long a failed job's settlement is still looked for. */
const REFUNDABLE_MS = DEADLINE_MS + SETTLED_WITHIN_MS;
const MOST_VIDEO_BYTES = 2 * 1024 ** 3;
/** Below it are the blobs that rows of `video_contents` refer to, and orphans. */
export const VIDEOS_PREFIX = 'videos';

const EXPIRED: VideoError = { code: 'expired', message: 'The provider did not end the job within a day.' };
const VANISHED: VideoError = { code: 'vanished', message: 'The provider knows nothing of the job any more.' };
const CALLED_OFF: VideoError = { code: 'cancelled', message: 'The job was called off.' };
const NEVER_CHARGED: VideoError = { code: 'interrupted', message: 'The beginning of the job was interrupted; nothing was charged.' };

/**
 * Takes the next step of a video: asks its provider, stores what it made, gives its cost back. Each step begins at what the rows say and ends
 * in one statement, so it may be cut off anywhere and taken again, by anybody.
 */
export async function followVideo(id: string, deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const video = await deps.videos.claim(id, LEASE_MS);
  if (!video) return;
  if (isRunning(video)) await followJob(video, deps, signal);
  else if (video.refund === 'due') await giveBack(video, deps);
  else if (video.deleted_at !== null) await forget(video, deps, signal);
}

/** The job at its provider; undefined where that one is not configured any more. */
export function jobOf(video: VideoRow, { catalog, deployments }: Pick<FollowDeps, 'catalog' | 'deployments'>, signal: AbortSignal) {
  const model = catalog.find(video.model);
  const upstream: UpstreamProvider | undefined = model && deployments.serving(model, video.deployment, video.livemode)?.upstream;
  return upstream && new ProviderJob(upstream, video.job_id, signal);
}

async function followJob(video: VideoRow, deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const job = jobOf(video, deps, signal);
  if (video.deleted_at !== null && video.status === 'queued') {
    // Its owner has never seen it begin: it is given back, whatever its provider makes of it.
    await job?.delete();
    return fail(video, CALLED_OFF, deps);
  }
  const seen: JobState = job ? await job.look() : { state: 'unknown', because: 'its deployment is not configured', retryAfterMs: null };
  if (seen.state === 'unknown') deps.log.warn({ videoId: video.id, because: seen.because }, 'a video job could not be looked at');
  if (seen.state === 'failed') return fail(video, seen.error, deps);
  if (seen.state === 'gone') return fail(video, VANISHED, deps);
  if (seen.state === 'completed' && job) return complete(video, job, deps);
  if (deps.clock.now() - video.created_at.getTime() >= DEADLINE_MS) return fail(video, EXPIRED, deps);
  if (video.deleted_at !== null && job && (await job.delete())) return fail(video, CALLED_OFF, deps);
  if (seen.state === 'running') await deps.videos.running(video.id, seen);
  await deps.videos.again(video.id, delayMs(video, seen.state === 'unknown' ? seen.retryAfterMs : null));
}

/** Longer and longer, with some chance in it so that many jobs do not ask in step. */
const delayMs = ({ looks }: VideoRow, retryAfterMs: number | null): number =>
  Math.max(
    Math.min(LATEST_MS, SOONEST_MS * 1.3 ** Math.min(looks, 20)) * (0.9 + 0.2 * Math.random()),
    Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs ?? 0),
  );

/** Nobody gets a video that was not charged: its call may have died between its row and its settlement. */
async function complete(video: VideoRow, job: ProviderJob, deps: FollowDeps): Promise<void> {
  const charge = await chargeOf(deps.pool, video.account_id, video.request_id);
  const age = deps.clock.now() - video.created_at.getTime();
  if (charge === 'not_charged' || (charge === 'unsettled' && age >= SETTLED_WITHIN_MS)) return fail(video, NEVER_CHARGED, deps);
  if (charge === 'unsettled') return deps.videos.again(video.id, delayMs(video, null));
  // What is deleted needs no bytes; it was made all the same.
  const contents = video.deleted_at === null ? await download(video, job, deps) : [];
  if (contents === 'gone') return fail(video, VANISHED, deps);
  if (contents === 'later') {
    if (age >= DEADLINE_MS) return fail(video, EXPIRED, deps);
    return deps.videos.again(video.id, delayMs(video, null));
  }
  if (await deps.videos.complete(video.id, contents, deps.keptMs)) return;
  // Somebody else has come to an end with it, or its owner has deleted it meanwhile.
  for (const { key } of contents) await deps.blobs.delete(key);
}

/** The video, and the pictures of it where there are any. A row is written when all is stored. */
async function download(video: VideoRow, job: ProviderJob, deps: FollowDeps): Promise<VideoContent[] | 'gone' | 'later'> {
  const stored: VideoContent[] = [];
  const giveUp = async <T extends 'gone' | 'later'>(how: T): Promise<T> => {
    for (const { key } of stored) await deps.blobs.delete(key);
    return how;
  };
  for (const variant of ['video', 'thumbnail', 'spritesheet'] as const) {
    const made = await store(video, variant, job, deps);
    if (typeof made === 'object') stored.push(made);
    else if (made === 'later' || variant === 'video') return giveUp(made);
  }
  return stored;
}

async function store(
  video: VideoRow,
  variant: Variant,
  job: ProviderJob,
  { blobs, log }: FollowDeps,
): Promise<VideoContent | 'gone' | 'later'> {
  const content = await job.content(variant);
  if (!content.ok) {
    log.warn({ videoId: video.id, variant, because: reasonOf(content) }, 'what a video job has made could not be read');
    return isGone(content) || (variant !== 'video' && !content.retryable) ? 'gone' : 'later';
  }
  const key = `${VIDEOS_PREFIX}/${video.account_id}/${newId()}`;
  try {
    const put = await blobs.put(key, content.bytes, { maxBytes: MOST_VIDEO_BYTES });
    if (put.stored && put.size > 0) return { variant, key, bytes: put.size, contentType: content.contentType };
  } catch (error) {
    log.warn({ err: error, videoId: video.id, variant }, 'what a video job has made could not be stored');
  }
  await blobs.delete(key);
  return 'later';
}

async function fail(video: VideoRow, error: VideoError, deps: FollowDeps): Promise<void> {
  const failed = await deps.videos.fail(video.id, error);
  if (failed) await giveBack(failed, deps);
}

/** Asking again gives back once: the ledger sees to that. */
async function giveBack(video: VideoRow, { videos, refunds, clock }: FollowDeps): Promise<void> {
  const reason = `The video could not be made (${video.error?.code ?? 'failed'}).`;
  const outcome = await refunds.refund(video.account_id, video.request_id, null, { reason });
  if ('refund' in outcome) return videos.refunded(video.id, 'made', outcome.refund.receiptId);
  const isLate = clock.now() - video.created_at.getTime() >= REFUNDABLE_MS;
  // A settlement that is not in the ledger yet may still get there.
  if (outcome.because === 'uncharged' || (outcome.because === 'unknown' && isLate)) return videos.refunded(video.id, 'not_charged', null);
  return videos.again(video.id, video.looks < 20 ? delayMs(video, null) : UNHURRIED_MS);
}

/** Its owner has deleted it, and its money is settled: what is left of it goes, at its provider as far as that one lets it. */
async function forget(video: VideoRow, deps: FollowDeps, signal: AbortSignal): Promise<void> {
  await jobOf(video, deps, signal)?.delete();
  for (const key of await deps.videos.purge(video.id)) await deps.blobs.delete(key);
}
