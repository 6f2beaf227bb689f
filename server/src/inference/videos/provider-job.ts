import { PassThrough } from 'node:stream';
import { reasonOf, type UpstreamAnswer, UpstreamCut, type UpstreamFault, type UpstreamProvider } from '../../adapters/upstream/port.ts';
import type { Variant, VideoError } from './stored-video.ts';

const FIRST_BYTE_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 60_000;
const MOST_OBJECT_BYTES = 1024 * 1024;
const MOST_WORDS = 1_000;

/** What a provider says of its job. */
export type JobState =
  | { readonly state: 'running'; readonly status: 'queued' | 'in_progress'; readonly progress: number }
  | { readonly state: 'completed' }
  | { readonly state: 'failed'; readonly error: VideoError }
  /** It knows of no such job: it has expired there, or was deleted. */
  | { readonly state: 'gone' }
  /** Nothing could be learnt; it may be different later. */
  | { readonly state: 'unknown'; readonly because: string; readonly retryAfterMs: number | null };

/** A job as it lives at its provider, under the provider's own id. */
export class ProviderJob {
  readonly #upstream: UpstreamProvider;
  readonly #path: string;
  readonly #signal: AbortSignal;

  constructor(upstream: UpstreamProvider, jobId: string, signal: AbortSignal) {
    this.#upstream = upstream;
    this.#path = `/videos/${encodeURIComponent(jobId)}`;
    this.#signal = signal;
  }

  async look(): Promise<JobState> {
    const answer = await this.#read('GET', this.#path);
    if (!answer.ok) return isGone(answer) ? { state: 'gone' } : unknown(reasonOf(answer), answer.retryAfterMs);
    try {
      return stateOf(JSON.parse((await answer.collect(MOST_OBJECT_BYTES)).toString('utf8')));
    } catch (error) {
      return unknown(error instanceof UpstreamCut ? error.message : 'it is no JSON', null);
    }
  }

  /** Whether it is gone there now. Some providers delete no job that still runs. */
  async delete(): Promise<boolean> {
    const answer = await this.#read('DELETE', this.#path);
    if (!answer.ok) return isGone(answer);
    await answer.collect(MOST_OBJECT_BYTES).catch(() => {});
    return true;
  }

  /** What it has made, as bytes to be read to their end, or the fault that took its place. */
  async content(variant: Variant): Promise<{ ok: true; contentType: string; bytes: AsyncIterable<Uint8Array> } | UpstreamFault> {
    const answer = await this.#read('GET', `${this.#path}/content?variant=${variant}`);
    return answer.ok ? { ok: true, contentType: contentTypeOf(variant, answer.contentType), bytes: bytesOf(answer) } : answer;
  }

  async #read(method: 'GET' | 'DELETE', path: string): Promise<UpstreamAnswer | UpstreamFault> {
    const read = { method, path, firstByteTimeoutMs: FIRST_BYTE_TIMEOUT_MS, idleTimeoutMs: IDLE_TIMEOUT_MS, signal: this.#signal };
    return (await this.#upstream.read?.(read)) ?? NOTHING_TO_READ;
  }
}

const NOTHING_TO_READ: UpstreamFault = {
  ok: false,
  kind: 'failed',
  retryable: true,
  status: null,
  retryAfterMs: null,
  message: 'Nothing lives at this provider.',
  param: null,
  code: null,
};

/** That there is no such job; a credential that is refused or a busy provider says nothing of the job. */
export const isGone = ({ status }: UpstreamFault): boolean => status === 404 || status === 410;

const unknown = (because: string, retryAfterMs: number | null): JobState => ({ state: 'unknown', because, retryAfterMs });

function stateOf(video: unknown): JobState {
  if (typeof video !== 'object' || video === null || !('status' in video)) return unknown('The answer is no video', null);
  const progress = 'progress' in video && typeof video.progress === 'number' ? Math.min(100, Math.max(0, video.progress)) : 0;
  switch (video.status) {
    case 'completed':
      return { state: 'completed' };
    case 'failed':
    case 'cancelled':
    case 'expired':
      return { state: 'failed', error: errorOf('error' in video ? video.error : null, video.status) };
    case 'queued':
      return { state: 'running', status: 'queued', progress };
    default:
      // A word that is not known here is some way of being at work.
      return { state: 'running', status: 'in_progress', progress };
  }
}

function errorOf(error: unknown, status: string): VideoError {
  const text = (name: 'code' | 'message', otherwise: string): string => {
    const value = typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>)[name] : undefined;
    return typeof value === 'string' && value !== '' ? value.slice(0, MOST_WORDS).toWellFormed() : otherwise;
  };
  return { code: text('code', 'generation_failed'), message: text('message', `The provider says that the job has ${status}.`) };
}

/** What a browser is told it is: never a page, whatever the provider says. */
function contentTypeOf(variant: Variant, stated: string | null): string {
  const usual = variant === 'video' ? 'video/mp4' : 'image/webp';
  return /^(video\/(mp4|webm|quicktime)|image\/(webp|png|jpeg))$/.exec(stated?.split(';')[0]?.trim().toLowerCase() ?? '')?.[0] ?? usual;
}

/** The provider is read no faster than the bytes are taken; who stops taking them cancels there. */
function bytesOf(answer: UpstreamAnswer): AsyncIterable<Uint8Array> {
  const bytes = new PassThrough();
  // It may break off before anybody reads; whoever reads then is told.
  bytes.on('error', () => {});
  const closed = new Promise<void>((resolve) => bytes.once('close', resolve));
  void closed.then(() => answer.abort());
  const drained = () => new Promise<void>((resolve) => bytes.once('drain', resolve));
  answer
    .pump((chunk) => (bytes.destroyed || bytes.write(chunk) ? undefined : Promise.race([drained(), closed])))
    .then(
      () => bytes.end(),
      (error: Error) => bytes.destroy(error),
    );
  return bytes;
}
