import type { Clock } from '../../../../kernel/clock.ts';
import type { UpstreamRead } from '../../port.ts';
import { jsonBody, type PlainBody } from '../composition.ts';
import { type Rejection, rejection } from '../rejection.ts';
import { contentOf, type Variant } from './content.ts';
import { jobOf, stateOf, videoObject } from './job.ts';

/** What there is no video for, or no content yet. */
export interface Missing extends Rejection {
  readonly status: 400 | 404;
}

const VARIANTS: readonly Variant[] = ['video', 'thumbnail', 'spritesheet'];

/** `GET /videos/{id}`, `GET /videos/{id}/content?variant=…` and `DELETE /videos/{id}`, which forgets nothing: nothing was kept. */
export async function readVideo({ method, path }: Pick<UpstreamRead, 'method' | 'path'>, clock: Clock): Promise<PlainBody | Missing> {
  const { pathname, searchParams } = new URL(path, 'http://sandbox.invalid');
  const [, id = '', content] = /^\/videos\/([^/]+)(\/content)?$/.exec(pathname) ?? [];
  const job = jobOf(decoded(id));
  if (!job || (content && method === 'DELETE'))
    return missing(404, `The sandbox has nothing at ${method} ${pathname.slice(0, 200)}.`, 'not_found');
  if (method === 'DELETE') return jsonBody({ id, object: 'video.deleted', deleted: true });
  if (!content) return jsonBody(videoObject(job, clock.now(), null));
  const { status, expiresAt } = stateOf(job, clock.now());
  if (status !== 'completed') return missing(400, `The video has no content: it is ${status}.`, 'video_not_ready');
  if (clock.now() / 1000 >= expiresAt) return missing(404, 'The content of the video has expired.', 'video_expired');
  const asked = searchParams.get('variant') ?? 'video';
  const variant = VARIANTS.find((one) => one === asked);
  if (!variant) return missing(400, `Unknown variant: expected ${VARIANTS.join(', ')}.`, 'invalid_value');
  const { contentType, bytes } = contentOf(job, variant);
  return { ok: true, contentType, pieces: piecesOf(bytes) };
}

const PIECE_BYTES = 64 * 1024;

const piecesOf = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, index) =>
    bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

const missing = (status: Missing['status'], message: string, code: string): Missing => ({
  ...rejection(message, { param: null, code }),
  status,
});
