import { hash, randomBytes } from 'node:crypto';
import type { VideoJobRequest } from '../../port.ts';
import { type Composer, jsonBody } from '../composition.ts';
import { referencesOf } from '../images/references.ts';
import { type Rejection, rejection } from '../rejection.ts';
import { isCharacterId } from './characters.ts';
import { canBeGoneOnFrom, jobOf, type VideoJob, videoObject } from './job.ts';

/** A prompt with this in it asks for a job that fails: a batch has no header for each of its lines. */
const FAIL_TRIGGER = '[fail]';
/** A job is done after this, unless the fault `slow-job` says otherwise. */
const USUAL_RENDER_MS = 2000;
/** OpenAI's bound on what a video can be extended to. */
const MOST_SECONDS = 120;
const LARGEST_SIDE = 2048;

/** Begins a job. Its content is made when it is asked for. */
export const composeVideo: Composer<'/v1/videos'> = async ({ model, request, files }, { fingerprint, clock, fault }) => {
  const references = await referencesOf(files);
  if (!references.ok) return references;
  const measured = measuresOf(request);
  if ('ok' in measured) return measured;
  const { seconds, width, height } = measured;
  if (seconds < 1 || seconds > MOST_SECONDS) return refused('seconds', `a video of 1 to ${MOST_SECONDS} seconds`);
  const isSize = [width, height].every((side) => side >= 64 && side <= LARGEST_SIDE && side % 2 === 0);
  if (!isSize) return refused('size', `even, and 64 to ${LARGEST_SIDE} pixels on each side`);
  if (!(request.characters ?? []).every(({ id }) => isCharacterId(id))) return refused('characters', 'characters of the sandbox');
  const job: VideoJob = {
    model,
    createdAtMs: clock.now(),
    renderMs: fault?.name === 'slow-job' ? (fault.amount ?? USUAL_RENDER_MS) : USUAL_RENDER_MS,
    ...measured,
    seed: hash('sha256', JSON.stringify([fingerprint, references.digest]), 'hex').slice(0, 12),
    nonce: randomBytes(4).toString('hex'),
    outcome: fault?.name === 'failed-job' || request.prompt.includes(FAIL_TRIGGER) ? 'failed' : 'completed',
    madeOf: request.madeOf?.id ?? null,
  };
  return jsonBody(videoObject(job, clock.now(), request.prompt));
};

const refused = (param: string, expected: string): Rejection =>
  rejection(`Invalid value for '${param}': expected ${expected}.`, { param, code: 'invalid_value' });

type Measures = Pick<VideoJob, 'seconds' | 'width' | 'height'>;

/** As they are asked for; what is made of a video has those of it, an extension so many seconds more. */
function measuresOf(request: VideoJobRequest): Measures | Rejection {
  const { madeOf } = request;
  const seconds = Number(request.seconds ?? '4');
  if (!madeOf) {
    const [, width = '', height = ''] = /^(\d+)x(\d+)$/.exec(request.size ?? '720x1280') ?? [];
    return { seconds, width: Number(width), height: Number(height) };
  }
  const source = canBeGoneOnFrom(madeOf.id) ? jobOf(madeOf.id) : undefined;
  if (!source) return refused('video', 'a video of the sandbox that was not made of too many others');
  const { width, height } = source;
  return { seconds: source.seconds + (madeOf.how === 'extension' ? seconds : 0), width, height };
}
