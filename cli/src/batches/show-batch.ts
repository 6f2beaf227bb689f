import type { Batch } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

/** Unix seconds as people read them. */
export const timeText = (unixSeconds: number | undefined): string =>
  unixSeconds === undefined ? '' : new Date(unixSeconds * 1000).toISOString();

export const progressText = ({ request_counts: { total, completed, failed } }: Batch): string =>
  `${completed + failed}/${total}${failed > 0 ? `, ${failed} failed` : ''}`;

const LINES: readonly Column<Batch>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Endpoint', of: ({ endpoint }) => endpoint },
  { title: 'Model', of: ({ model }) => model },
  { title: 'Lines', of: progressText },
  { title: 'Input', of: ({ input_file_id }) => input_file_id },
  { title: 'Output', of: ({ output_file_id }) => output_file_id },
  { title: 'Errors', of: ({ error_file_id }) => error_file_id },
  { title: 'Created', of: ({ created_at }) => timeText(created_at) },
  { title: 'Expires', of: ({ expires_at }) => timeText(expires_at) },
];

export function showBatch(world: CommandWorld, batch: Batch): void {
  printRecord(world, batch, LINES);
  // Beside the record: a script reads them with `--json errors`.
  for (const { line, code, message } of batch.errors?.data ?? [])
    world.err.write(`${line === null ? '' : `line ${line}: `}${code}: ${message}\n`);
}
