import type { Pool } from 'pg';
import type { AlertCause } from './alerts.ts';

/** One change of a budget, as it was made. */
export interface BudgetChangeRow {
  readonly id: string;
  readonly changed_at: Date;
  readonly actor_kind: 'user' | 'key';
  readonly actor_id: string;
  readonly previous_cap_nano_usd: bigint | null;
  readonly new_cap_nano_usd: bigint | null;
  readonly previous_alert_thresholds: number[];
  readonly new_alert_thresholds: number[];
}

export interface BudgetAlertRow {
  readonly id: string;
  readonly period: string;
  /** Null: a refusal far below the cap. */
  readonly threshold: number | null;
  readonly cause: AlertCause;
  /** Nano-USD. */
  readonly spent: string;
  readonly cap_nano_usd: bigint;
  /** Nano-USD. */
  readonly required: string | null;
  readonly created_at: Date;
}

/** The interface gives these lists no parameters: they show so many of the newest, and say how many there are. */
export const MOST_SHOWN = 500;

export interface Newest<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** What was recorded about one key, newest first. That the caller may see the key has been asked before. */
export interface BudgetRecords {
  changesOf(keyId: string): Promise<Newest<BudgetChangeRow>>;
  alertsOf(keyId: string): Promise<Newest<BudgetAlertRow>>;
}

export function createBudgetRecords(pool: Pool): BudgetRecords {
  async function newest<Row>(table: 'key_budget_changes' | 'key_budget_alerts', columns: string, time: string, keyId: string) {
    const [{ rows }, counted] = await Promise.all([
      pool.query<Row & object>(`select ${columns} from ${table} where key_id = $1 order by ${time} desc, id desc limit ${MOST_SHOWN}`, [
        keyId,
      ]),
      pool.query<{ total: bigint }>(`select count(*) as total from ${table} where key_id = $1`, [keyId]),
    ]);
    return { rows, total: Number(counted.rows[0]?.total ?? 0) };
  }

  return {
    changesOf: (keyId) => newest<BudgetChangeRow>('key_budget_changes', '*', 'changed_at', keyId),
    alertsOf: (keyId) =>
      newest<BudgetAlertRow>(
        'key_budget_alerts',
        'id, period, threshold, cause, spent_nano_usd as spent, cap_nano_usd, required_nano_usd as required, created_at',
        'created_at',
        keyId,
      ),
  };
}
