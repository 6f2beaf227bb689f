import { hash, randomBytes } from 'node:crypto';
import { type Composer, jsonBody } from '../composition.ts';
import { referencesOf } from '../images/references.ts';
import { type Rejection, rejection } from '../rejection.ts';
import { canBeRemixed, jobOf, type VideoJob, videoObject } from './job.ts';

/** A prompt with this in it asks for a job that fails: a batch has no header for each of its lines. */
const FAIL_TRIGGER = '[fail]';
/** A job is done after this, unless the fault `slow-job` says otherwise. */
const USUAL_RENDER_MS = 2000;
const MOST_SECONDS = 60;
const LARGEST_SIDE = 2048;

/** Begins a job. Its content is made when it is asked for. */
export const composeVideo: Composer<'/v1/videos'> = async ({ model, request, files }, { fingerprint, clock, fault }) => {
  const references = await referencesOf(files);
  if (!references.ok) return references;
  const seconds = Number(request.seconds ?? 4);
  if (seconds < 1 || seconds > MOST_SECONDS) return refused('seconds', `between 1 and ${MOST_SECONDS}`);
  const original = originalOf(request['remixed_from_video_id']);
  if ('ok' in original) return original;
  const [, width = '', height = ''] = /^(\d+)x(\d+)$/.exec(request.size ?? '720x1280') ?? [];
  const isSize = [width, height].every((side) => Number(side) >= 64 && Number(side) <= LARGEST_SIDE && Number(side) % 2 === 0);
  if (!isSize) return refused('size', `even, and 64 to ${LARGEST_SIDE} pixels on each side`);
  const job: VideoJob = {
    model,
    createdAtMs: clock.now(),
    renderMs: fault?.name === 'slow-job' ? (fault.amount ?? USUAL_RENDER_MS) : USUAL_RENDER_MS,
    seconds,
    width: Number(width),
    height: Number(height),
    seed: hash('sha256', JSON.stringify([fingerprint, references.digest]), 'hex').slice(0, 12),
    nonce: randomBytes(4).toString('hex'),
    outcome: fault?.name === 'failed-job' || request.prompt.includes(FAIL_TRIGGER) ? 'failed' : 'completed',
    remixOf: original.id,
  };
  return jsonBody(videoObject(job, clock.now(), request.prompt));
};

const refused = (param: string, expected: string): Rejection =>
  rejection(`Invalid value for '${param}': expected ${expected}.`, { param, code: 'invalid_value' });

/** The video that this one is a remix of; null where it is none. */
function originalOf(id: unknown): { id: string | null } | Rejection {
  if (id === undefined || id === null) return { id: null };
  if (typeof id === 'string' && jobOf(id) && canBeRemixed(id)) return { id };
  return refused('remixed_from_video_id', 'a video of the sandbox that has not been remixed too often');
}
