import { canonicalJson, type LogPolicyDeclaration, type Undeclared } from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { firstOf } from '../../kernel/statements.ts';
import { tables } from '../tables.ts';
import { readLogRow } from './own-state.ts';

/** How soon a receipt stands in the log, seconds after its answer has ended, however busy gateway and database are. */
export const LOGGED_WITHIN_S = 300;

/** What a gateway is configured with. */
export type LogPolicy = Pick<LogPolicyDeclaration, 'witness_policy' | 'anchors'>;

/** The rules by which the log is kept, where the last that were declared are others. */
export async function undeclaredPolicy(client: PoolClient, policy: LogPolicy, now: number): Promise<Undeclared<LogPolicyDeclaration>[]> {
  const { origin } = await readLogRow(client);
  const declaration: Undeclared<LogPolicyDeclaration> = {
    version: 'tallygate-declaration/v1',
    kind: 'policy',
    declared_at: rfc3339(now),
    log: origin,
    receipt_version: 'tallygate-receipt/v1',
    logged_within_s: LOGGED_WITHIN_S,
    witness_policy: policy.witness_policy,
    anchors: [...policy.anchors],
  };
  const policies = tables.selectFrom('log_declarations').select('declaration').where('kind', '=', 'policy');
  const newest = await firstOf(client, policies.orderBy('log_index', 'desc').limit(1));
  const last = newest && (JSON.parse(newest.declaration) as LogPolicyDeclaration);
  return last && isSame(last, declaration) ? [] : [declaration];
}

/** But for its place among the policies, and its time. */
function isSame({ number: _number, previous: _previous, ...last }: LogPolicyDeclaration, next: Undeclared<LogPolicyDeclaration>): boolean {
  return canonicalJson({ ...last, declared_at: '' }) === canonicalJson({ ...next, declared_at: '' });
}
