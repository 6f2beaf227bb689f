import type { Video } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

const timeText = (unixSeconds: number | null): string | null => (unixSeconds === null ? null : new Date(unixSeconds * 1000).toISOString());

export const createdText = ({ created_at }: Video): string | null => timeText(created_at);

const LINES: readonly Column<Video>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Progress', of: ({ progress }) => `${progress} %` },
  { title: 'Model', of: ({ model }) => model },
  { title: 'Seconds', of: ({ seconds }) => seconds },
  { title: 'Size', of: ({ size }) => size },
  { title: 'Source video', of: ({ remixed_from_video_id }) => remixed_from_video_id },
  { title: 'Created', of: createdText },
  { title: 'Expires', of: ({ expires_at }) => timeText(expires_at) },
  { title: 'Refund', of: ({ refund_receipt_id }) => refund_receipt_id },
];

export function showVideo(world: CommandWorld, video: Video): void {
  printRecord(world, video, LINES);
  // Beside the record: a script reads them with `--json error,refund_receipt_id`.
  if (video.error) world.err.write(`${video.error.code}: ${video.error.message}\n`);
  if (video.refund_receipt_id) world.err.write(`Refunded in full: tallygate receipts get ${video.refund_receipt_id}\n`);
}
