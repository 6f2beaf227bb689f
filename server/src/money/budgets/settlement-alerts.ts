import type { PoolClient } from 'pg';
import * as z from 'zod';
import { type Clock, monthOf } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { checkedRows, prepared } from '../../kernel/statements.ts';
import type { SettlementRecord } from '../ledger/index.ts';
import { dueAlerts, type KeyPeriod, recordAlerts } from './alerts.ts';

const LockedKey = z.object({ id: z.string(), isCapped: z.boolean() });
type Use = Pick<SettlementRecord, 'keyId' | 'startedAt'>;

/** Records the thresholds that a batch of settlements reached, in the transaction that books them and after it summed them up. */
export function createSettlementAlerts({ clock, log }: { clock: Clock; log: Log }) {
  return async (client: PoolClient, records: readonly Use[]): Promise<void> => {
    const uses = keyPeriodsOf(records);
    if (uses.length === 0) return;
    const capped = await waitForChanges(client, uses);
    const due = capped.length === 0 ? [] : await dueAlerts(client, capped, 'spend');
    if (due.length > 0) await orElseNothing(client, log, () => recordAlerts(client, due, clock.now()));
  };
}

/** A request belongs to the month in which it started, however late it is settled. */
function keyPeriodsOf(records: readonly Use[]): KeyPeriod[] {
  const uses = new Map<string, KeyPeriod>();
  for (const { keyId, startedAt } of records) {
    const month = monthOf(startedAt);
    if (keyId !== null) uses.set(`${keyId} ${month}`, { keyId, month });
  }
  return [...uses.values()];
}

/**
 * Who changes a budget locks the key and looks at what is booked; we have booked and look at the budget. Without this lock both could look
 * before the other commits, and a threshold that was reached by the two together would be nobody's. It waits for changes of a key only,
 * not for the notes of its last use. @returns the uses of keys that have a cap
 */
async function waitForChanges(db: PoolClient, uses: readonly KeyPeriod[]): Promise<KeyPeriod[]> {
  const keys = await checkedRows(
    prepared(db, 'lock keys of batch'),
    LockedKey,
    'select id, monthly_cap_nano_usd is not null as "isCapped" from api_keys where id = any($1) order by id for key share',
    [[...new Set(uses.map(({ keyId }) => keyId))]],
  );
  const capped = new Set(keys.flatMap(({ id, isCapped }) => (isCapped ? [id] : [])));
  return uses.filter(({ keyId }) => capped.has(keyId));
}

/** An alert that cannot be written must not keep money from being booked: it stays due, and the key's next settlement tries again. */
async function orElseNothing(client: PoolClient, log: Log, write: () => Promise<void>): Promise<void> {
  await client.query('savepoint budget_alerts');
  try {
    await write();
  } catch (error) {
    // With the connection gone this fails too, and the whole batch is written again.
    await client.query('rollback to savepoint budget_alerts');
    log.error({ err: error }, 'budget alerts could not be recorded');
  }
}
