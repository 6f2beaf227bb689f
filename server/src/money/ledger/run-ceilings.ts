import * as z from 'zod';
import type { NanoUsd } from '../../kernel/money.ts';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';

export interface NamedRun {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly runId: string;
}

const CeilingRow = z.object({
  account_id: z.string(),
  livemode: z.boolean(),
  run_id: z.string(),
  ceiling: z.string().transform(BigInt),
});

/** The ceilings of agent runs that have one. @returns the lowest that was asked for, by {@link nameOfRun} */
export async function runCeilings(db: Queryable, runs: readonly NamedRun[]): Promise<ReadonlyMap<string, NanoUsd>> {
  if (runs.length === 0) return new Map();
  const rows = await checkedRows(
    db,
    CeilingRow,
    `select t.account_id, t.livemode, t.run_id, t.ceiling_nano::text as ceiling
       from jsonb_to_recordset($1::jsonb) as named (account_id uuid, livemode boolean, run_id text)
       join agent_runs t using (account_id, livemode, run_id)
      where t.ceiling_nano is not null`,
    [JSON.stringify(runs.map(({ accountId, livemode, runId }) => ({ account_id: accountId, livemode, run_id: runId })))],
  );
  return new Map(
    rows.map(({ account_id, livemode, run_id, ceiling }) => [nameOfRun({ accountId: account_id, livemode, runId: run_id }), ceiling]),
  );
}

export const nameOfRun = ({ accountId, livemode, runId }: NamedRun): string => `${accountId} ${livemode} ${runId}`;
