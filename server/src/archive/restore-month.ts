import { escapeIdentifier, type Pool, type PoolClient } from 'pg';
import type { BlobStore } from '../adapters/blobs/port.ts';
import type { Month } from '../kernel/clock.ts';
import { rowsOf } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { Archive, archivedAmong } from './archive.ts';
import type { MonthlyTable } from './monthly-tables.ts';
import { ensurePartition, partitionOf } from './partitions.ts';
import { tables } from './tables.ts';

interface RestoreDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
}

/**
 * Brings an archived month back into the database, beside what came late, in one transaction: readers find each row at one place. Then it is as any
 * other month, and may be archived again.
 *
 * @returns how many rows; undefined where the month is not archived
 * @throws DamagedArchive where a piece is not what was archived; then nothing has changed
 */
export async function restoreMonth({ pool, blobs }: RestoreDeps, table: MonthlyTable, month: Month): Promise<number | undefined> {
  if (!(await archivedAmong(pool, table, [month])).has(month)) return undefined;
  await ensurePartition(pool, table, month);
  const restored = await inTransaction(pool, (client) => restore(client, new Archive(pool, blobs), table, month));
  // Only once nothing refers to them.
  for (const blobKey of restored?.blobKeys ?? []) await blobs.delete(blobKey);
  return restored?.rows;
}

async function restore(client: PoolClient, archive: Archive, table: MonthlyTable, month: Month) {
  const named = [table.name, month];
  const archived = await client.query('delete from archived_months where table_name = $1 and month = $2', named);
  if (archived.rowCount === 0) return undefined;
  const pieces = await rowsOf(
    client,
    tables
      .selectFrom('archive_pieces')
      .select(['month', 'blob_key', 'sha256', 'started_from', 'started_to', 'log_from', 'log_to'])
      .where('table_name', '=', table.name)
      .where('month', '=', month)
      .orderBy('piece'),
  );
  let rows = 0;
  for (const piece of pieces) {
    const json = (await archive.rows(piece)) ?? '[]';
    // Columns that are newer than the archive get their defaults.
    const columns = Object.keys((JSON.parse(json) as object[])[0] ?? {}).map(escapeIdentifier);
    const inserted = await client.query(
      `insert into ${partitionOf(table, month)} (${columns}) select ${columns} from json_populate_recordset(null::${table.name}, $1)`,
      [json],
    );
    rows += inserted.rowCount ?? 0;
  }
  await client.query('delete from archive_pieces where table_name = $1 and month = $2', named);
  return { rows, blobKeys: pieces.map(({ blob_key }) => blob_key) };
}
