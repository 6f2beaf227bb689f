import { createHash } from 'node:crypto';
import { checkpointText } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { TimestampAuthority } from '../../adapters/timestamps/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { inSnapshot } from '../../kernel/transaction.ts';
import { stopsOf } from '../log/log-stops.ts';
import { ownNewestState, readLogRow } from '../log/own-state.ts';
import type { SigningKey } from '../signing-keys.ts';

export interface StampDeps {
  readonly pool: Pool;
  readonly authorities: readonly TimestampAuthority[];
  readonly logKeys: readonly SigningKey[];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Has the newest state of the log stamped by every authority that has not stamped it yet. What is stamped is the text of the checkpoint, which
 * names the log, its size and its root. An authority that is away is asked again the next time, about the state of then.
 *
 * @throws LogStop where the state is not what was signed
 */
export async function stampLog({ pool, authorities, logKeys, clock, log }: StampDeps, signal: AbortSignal): Promise<void> {
  if ((await stopsOf(pool)).length > 0) return;
  const state = await inSnapshot(pool, async (client) => {
    const row = await readLogRow(client);
    const found = await ownNewestState(client, row, logKeys);
    return found && { origin: row.origin, size: found.size, root: found.root };
  });
  if (!state) return;
  const text = checkpointText(state);
  const digest = createHash('sha256').update(text).digest();
  for (const authority of authorities) {
    const { rowCount } = await pool.query('select from log_timestamps where authority = $1 and tree_size >= $2', [
      authority.url,
      state.size,
    ]);
    if (rowCount) continue;
    try {
      const { token, time } = await authority.stamp(digest, signal);
      await pool.query(
        `insert into log_timestamps (timestamp_id, authority, tree_size, checkpoint, token, stamped_at, created_at)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict do nothing`,
        [newId(), authority.url, state.size, text, token, time, new Date(clock.now())],
      );
    } catch (error) {
      log.error({ err: error, authority: authority.url }, 'the state of the log could not be stamped with the time; it is tried again');
    }
  }
}
