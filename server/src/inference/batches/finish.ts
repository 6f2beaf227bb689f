import { firstOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { BatchLines } from './batch-lines.ts';
import type { BatchDeps } from './deps.ts';
import { SELECT_BATCHES } from './select-batches.ts';
import { batchOf, type Ending, type StoredBatch } from './stored-batch.ts';

type FinishDeps = Pick<BatchDeps, 'pool' | 'files' | 'inference'>;

/**
 * Writes the files of a batch whose lines are all done, then closes it. A file and the batch's knowledge of it are one transaction, so
 * that whoever takes over after a crash goes on with the file that is missing.
 */
export async function finish(batch: StoredBatch, ending: Ending, lines: BatchLines, deps: FinishDeps): Promise<void> {
  if (batch.outputFileId === null) await writeFile(batch, false, lines, deps);
  if (batch.errorFileId === null) await writeFile(batch, true, lines, deps);
  await close(batch.id, ending, deps);
}

async function writeFile(batch: StoredBatch, isError: boolean, lines: BatchLines, { files }: FinishDeps): Promise<void> {
  if (!(await lines.has(batch.id, isError))) return;
  const column = isError ? 'error_file_id' : 'output_file_id';
  await files.create(
    batch,
    {
      purpose: 'batch_output',
      filename: `${batch.id}_${isError ? 'error' : 'output'}.jsonl`,
      contentType: 'application/jsonl',
      lifetimeSeconds: batch.outputLifetimeSeconds ?? undefined,
    },
    lines.file(batch.id, isError),
    async (client, file) => {
      const { rowCount } = await client.query(`update batches set ${column} = $2 where id = $1 and ${column} is null`, [batch.id, file.id]);
      if (rowCount !== 1) throw new Error(`${batch.id} has that file already`);
    },
  );
}

/** The counts are written down, and the lines go: what they said is in the files. */
async function close(batchId: string, ending: Ending, { pool, inference }: FinishDeps): Promise<void> {
  await inTransaction(pool, async (client) => {
    const row = await firstOf(client, SELECT_BATCHES.where('batches.id', '=', batchId).forUpdate('batches'));
    if (!row) throw new Error(`There is no batch ${batchId} any more`);
    const { completed, failed, usage } = batchOf(row);
    await client.query(`update batches set status = $2, ${ending}_at = $3, completed = $4, failed = $5, usage = $6 where id = $1`, [
      batchId,
      ending,
      new Date(inference.clock.now()),
      completed,
      failed,
      JSON.stringify(usage),
    ]);
    await client.query('delete from batch_lines where batch_id = $1', [batchId]);
  });
}
