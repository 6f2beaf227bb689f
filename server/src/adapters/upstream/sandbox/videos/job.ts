import { crc32 } from 'node:zlib';

/** A video job. All of it is in its id, so that it outlives every restart and no one keeps it. */
export interface VideoJob {
  readonly model: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAtMs: number;
  /** How long it takes, milliseconds. */
  readonly renderMs: number;
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** What the picture follows from: 12 hex digits. */
  readonly seed: string;
  /** Tells two jobs apart that were begun alike in the same millisecond: 8 hex digits. */
  readonly nonce: string;
  readonly outcome: 'completed' | 'failed';
  /** Id of the video that this one is made of: what it is a remix, an edit or an extension of. */
  readonly madeOf: string | null;
}

const VERSION = 1;
const FIXED_BYTES = 29;
const SUM_BYTES = 4;
const PREFIX = 'video_';
const LONGEST_ID = 1000;

export function idOf(job: VideoJob): string {
  const fixed = Buffer.alloc(FIXED_BYTES);
  const model = Buffer.from(job.model).subarray(0, 255);
  fixed.writeUInt8(VERSION, 0);
  fixed.writeUInt8(job.outcome === 'failed' ? 1 : 0, 1);
  fixed.writeUIntBE(job.createdAtMs, 2, 6);
  fixed.writeUInt32BE(job.renderMs, 8);
  fixed.writeUInt16BE(job.seconds, 12);
  fixed.writeUInt16BE(job.width, 14);
  fixed.writeUInt16BE(job.height, 16);
  fixed.write(job.seed, 18, 6, 'hex');
  fixed.write(job.nonce, 24, 4, 'hex');
  fixed.writeUInt8(model.length, 28);
  const original = job.madeOf === null ? [] : [Buffer.from(job.madeOf.slice(PREFIX.length), 'base64url')];
  const stated = Buffer.concat([fixed, model, ...original]);
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32BE(crc32(stated));
  return PREFIX + Buffer.concat([stated, sum]).toString('base64url');
}

/** Undefined for what is no id of the sandbox. */
export function jobOf(id: string): VideoJob | undefined {
  if (!id.startsWith(PREFIX) || id.length > LONGEST_ID) return undefined;
  const bytes = Buffer.from(id.slice(PREFIX.length), 'base64url');
  const end = bytes.length - SUM_BYTES;
  if (end < FIXED_BYTES || bytes.readUInt8(0) !== VERSION || bytes.readUInt32BE(end) !== crc32(bytes.subarray(0, end))) return undefined;
  const modelEnd = FIXED_BYTES + bytes.readUInt8(28);
  return {
    model: bytes.toString('utf8', FIXED_BYTES, modelEnd),
    outcome: bytes.readUInt8(1) === 1 ? 'failed' : 'completed',
    createdAtMs: bytes.readUIntBE(2, 6),
    renderMs: bytes.readUInt32BE(8),
    seconds: bytes.readUInt16BE(12),
    width: bytes.readUInt16BE(14),
    height: bytes.readUInt16BE(16),
    seed: bytes.toString('hex', 18, 24),
    nonce: bytes.toString('hex', 24, 28),
    madeOf: modelEnd < end ? PREFIX + bytes.toString('base64url', modelEnd, end) : null,
  };
}

/** Whether what is made of this video still has room in its id for all of its originals. */
export const canBeGoneOnFrom = (id: string): boolean => id.length < LONGEST_ID - 100;

export type JobStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

const QUEUED_SHARE = 0.1;
/** A job that fails gets so far. */
const FAILED_SHARE = 0.5;
const KEPT_SECONDS = 86_400;

/** How far the job is. `expiresAt`: unix seconds until when its content is there. */
export function stateOf(job: VideoJob, nowMs: number): { status: JobStatus; progress: number; expiresAt: number } {
  const share = job.renderMs === 0 ? 1 : Math.min(1, Math.max(0, (nowMs - job.createdAtMs) / job.renderMs));
  const expiresAt = completedAt(job) + KEPT_SECONDS;
  const status = (of: JobStatus, progress: number) => ({ status: of, progress: Math.floor(100 * progress), expiresAt });
  if (job.outcome === 'failed' && share >= FAILED_SHARE) return status('failed', FAILED_SHARE);
  if (share >= 1) return status('completed', 1);
  return share < QUEUED_SHARE ? status('queued', 0) : status('in_progress', share);
}

/** Unix seconds. */
const completedAt = (job: VideoJob): number => Math.floor((job.createdAtMs + job.renderMs) / 1000);

/** OpenAI's video object, with every key. The prompt is known to the one who asked, and not kept. */
export function videoObject(job: VideoJob, nowMs: number, prompt: string | null) {
  const { status, progress, expiresAt } = stateOf(job, nowMs);
  return {
    id: idOf(job),
    object: 'video',
    model: job.model,
    status,
    progress,
    created_at: Math.floor(job.createdAtMs / 1000),
    completed_at: status === 'completed' ? completedAt(job) : null,
    expires_at: status === 'completed' ? expiresAt : null,
    prompt,
    size: `${job.width}x${job.height}`,
    seconds: String(job.seconds),
    remixed_from_video_id: job.madeOf,
    error: status === 'failed' ? { code: 'sandbox_fault', message: 'The sandbox failed this job on request.' } : null,
  };
}
