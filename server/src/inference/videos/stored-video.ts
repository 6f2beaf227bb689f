import type { VIDEO_VARIANTS, Video } from '@tallygate/contract';
import { newId } from '../../kernel/ids.ts';

export type Variant = (typeof VIDEO_VARIANTS)[number];

/** What went wrong with a job, in words for its owner. */
export interface VideoError {
  readonly code: string;
  readonly message: string;
}

/** A row of `videos`. */
export interface VideoRow {
  readonly id: string;
  readonly account_id: string;
  readonly livemode: boolean;
  /** Of the call that began the job: what it was charged under. */
  readonly request_id: string;
  readonly deployment: string;
  /** The provider's own id of the job. */
  readonly job_id: string;
  readonly model: string;
  readonly seconds: number;
  readonly size: string;
  readonly prompt: string;
  readonly remixed_from: string | null;
  readonly status: Video['status'];
  readonly progress: number;
  readonly error: VideoError | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
  readonly expires_at: Date | null;
  readonly deleted_at: Date | null;
  readonly refund: 'none' | 'due' | 'made' | 'not_charged';
  readonly refund_receipt_id: string | null;
  readonly looked_at: Date;
  readonly looks: number;
}

/** `video_` and 32 hex digits of a UUIDv7, so that the order of ids is that of creation. */
export const newVideoId = (): string => `video_${newId().replaceAll('-', '')}`;

/** What is no id of ours is nobody's video, whatever characters it has. */
export const isVideoId = (text: string): boolean => /^video_[0-9a-f]{32}$/.test(text);

/** Whether its provider is still at work on it, as far as is known. */
export const isRunning = ({ status }: Pick<VideoRow, 'status'>): boolean => status === 'queued' || status === 'in_progress';

const unixSeconds = (at: Date | null): number | null => at && Math.floor(at.getTime() / 1000);

/** As its owner sees it: ids, model and times are ours, whatever the provider calls them. */
export const videoToWire = (row: VideoRow): Video => ({
  id: row.id,
  object: 'video',
  model: row.model,
  status: row.status,
  progress: row.progress,
  created_at: Math.floor(row.created_at.getTime() / 1000),
  completed_at: unixSeconds(row.completed_at),
  expires_at: unixSeconds(row.expires_at),
  prompt: row.prompt,
  seconds: String(row.seconds),
  size: row.size,
  remixed_from_video_id: row.remixed_from,
  error: row.error && { ...row.error },
  refund_receipt_id: row.refund_receipt_id,
});
