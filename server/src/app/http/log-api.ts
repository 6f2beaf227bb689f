import { Readable } from 'node:stream';
import { contract } from '@tallygate/contract';
import { parseEntriesPath, parseTilePath } from '@tallygate/receipts';
import type { SeenBy } from '../../http/index.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { type ExportDeps, exportReceipts, type RequirePlan, readEntries, readTile, scopeOf } from '../../receipts/index.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';
import { sendBytes, transferRoute } from './transfer.ts';

interface LogApiDeps extends ExportDeps {
  readonly requirePlan: RequirePlan;
  readonly seenBy: SeenBy;
  /** How long a reader may do nothing at all. */
  readonly idleTimeoutMs: number;
  readonly log: Log;
}

const { exportReceipts: EXPORT, getTile: TILE } = contract.receiptTransfers;
const LOG = '/v1/log/';
/** What a tile says once, it says for ever. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The files of the log, whose addresses have as many segments as the log is large, and the export of receipts, which passes as it is read. */
export const logRoutes = (deps: LogApiDeps): ServedRoute[] => [
  { ...transferRoute(TILE, (exchange) => sendTile(exchange, deps)), path: `${LOG}tile/*` },
  transferRoute(EXPORT, (exchange) => sendExport(exchange, deps)),
];

async function sendTile({ req, res, pathname }: Exchange, deps: LogApiDeps): Promise<void> {
  const path = pathname.slice(LOG.length);
  const bytes = await bytesAt(path, deps);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes.length), 'cache-control': IMMUTABLE };
  res.writeHead(200, headers).end(req.method === 'HEAD' ? undefined : bytes);
}

async function bytesAt(path: string, deps: LogApiDeps): Promise<Buffer> {
  const tile = parseTilePath(path);
  if (tile) return readTile(deps.pool, tile);
  const bundle = parseEntriesPath(path);
  if (bundle) return readEntries(deps, bundle);
  throw new Problem('not_found', 'This is no address of a tile: see c2sp.org/tlog-tiles.');
}

async function sendExport(exchange: Exchange, { idleTimeoutMs, log, seenBy, ...deps }: LogApiDeps): Promise<void> {
  const { req, res } = exchange;
  const { month, livemode } = queryOf(exchange, EXPORT.query);
  const principal = principalOf(exchange);
  if (await seenBy(principal))
    throw new Problem('forbidden', 'The file has all receipts of the account, which your role does not see: GET /v1/receipts lists yours.');
  const scope = scopeOf(principal, livemode);
  await deps.requirePlan(scope);
  const lines = exportReceipts(deps, scope, month);
  const headers = {
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': `attachment; filename="receipts-${month}.jsonl"`,
  };
  await sendBytes({ req, res, status: 200, headers, read: async () => Readable.from(lines) }, { idleTimeoutMs, log });
}
