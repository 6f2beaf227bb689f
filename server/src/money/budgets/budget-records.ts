import type { Pool } from 'pg';
import { Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { rowsOf } from '../../kernel/statements.ts';
import type { AlertCause } from './alerts.ts';
import { tables } from './tables.ts';

/** One change of a budget, as it was made. */
export interface BudgetChangeRow {
  readonly id: string;
  readonly changed_at: Date;
  readonly actor_kind: 'user' | 'key' | 'management_key';
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

const CHANGES = new Keyset({ name: 'budget_changes', columns: { changed_at: 'time', id: 'uuid' }, direction: 'desc' });
const ALERTS = new Keyset({ name: 'budget_alerts', columns: { created_at: 'time', id: 'uuid' }, direction: 'desc' });

/** What was recorded about one key, newest first. That the caller may see the key has been asked before. */
export interface BudgetRecords {
  changesOf(keyId: string, query: PageQuery): Promise<Page<BudgetChangeRow>>;
  alertsOf(keyId: string, query: PageQuery): Promise<Page<BudgetAlertRow>>;
}

export const createBudgetRecords = (pool: Pool): BudgetRecords => ({
  async changesOf(keyId, query) {
    const changes = tables.selectFrom('key_budget_changes').selectAll().where('key_id', '=', keyId);
    return CHANGES.page(await rowsOf(pool, CHANGES.pageIn(changes, query)), query);
  },

  async alertsOf(keyId, query) {
    const alerts = tables
      .selectFrom('key_budget_alerts')
      .select([
        'id',
        'period',
        'threshold',
        'cause',
        'spent_nano_usd as spent',
        'cap_nano_usd',
        'required_nano_usd as required',
        'created_at',
      ])
      .where('key_id', '=', keyId);
    return ALERTS.page(await rowsOf(pool, ALERTS.pageIn(alerts, query)), query);
  },
});
