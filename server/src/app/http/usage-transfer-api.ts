import { addAbortSignal, Readable } from 'node:stream';
import { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { createRowWalker, type WalkRows } from '../../kernel/walk-rows.ts';
import { adminUsageScopeOf, exportFocus, exportUsage, usageScopeOf } from '../../money/ledger/index.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';
import { sendBytes, transferRoute } from './transfer.ts';

interface UsageTransferDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a reader may do nothing at all, and take for the whole file. */
  readonly limits: { readonly idleTimeoutMs: number; readonly timeoutMs: number };
}

/** Each one occupies a connection to the database. */
const EXPORTS_AT_ONCE = 2;

const { exportUsage: OF_ACCOUNT, exportAdminUsage: OF_ALL } = contract.usageTransfers;

/** Usage as files, as the rows are read. */
export function usageTransferRoutes(deps: UsageTransferDeps): ServedRoute[] {
  const { pool } = deps;
  const walkRows = createRowWalker(pool, EXPORTS_AT_ONCE);
  return [
    transferRoute(OF_ACCOUNT, async (exchange) =>
      sendUsage(exchange, { ...deps, walkRows }, await usageScopeOf(pool, principalOf(exchange)), queryOf(exchange, OF_ACCOUNT.query)),
    ),
    transferRoute(OF_ALL, (exchange) =>
      sendUsage(exchange, { ...deps, walkRows }, adminUsageScopeOf(principalOf(exchange)), queryOf(exchange, OF_ALL.query)),
    ),
  ];
}

async function sendUsage(
  { req, res }: Exchange,
  { clock, limits, log, ...deps }: UsageTransferDeps & { readonly walkRows: WalkRows },
  scope: Parameters<typeof exportUsage>[1],
  { format, ...query }: z.output<typeof OF_ALL.query>,
): Promise<void> {
  const { name, text } = await (format === 'focus' ? exportFocus : exportUsage)(deps, scope, query, clock.now());
  const headers = { 'content-type': 'text/csv; charset=utf-8; header=present', 'content-disposition': `attachment; filename="${name}"` };
  const read = async () => addAbortSignal(AbortSignal.timeout(limits.timeoutMs), Readable.from(text));
  await sendBytes({ req, res, status: 200, headers, read }, { idleTimeoutMs: limits.idleTimeoutMs, log });
}
