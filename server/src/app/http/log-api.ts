import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { contract, type VaasKeySet } from '@tallygate/contract';
import { parseTilePath } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { exportReceipts, readTile, scopeOf } from '../../receipts/index.ts';
import type { Authenticator } from './credentials.ts';
import { metadataOf } from './endpoint.ts';
import { pathnameOf } from './path-table.ts';
import { requestIdOf } from './request-id.ts';
import { admitTransfer, refuseTransfer, sendBytes, TRANSFER_HEADERS } from './transfer.ts';
import { validationProblem } from './validation.ts';

interface LogApiDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly keySet: () => Promise<VaasKeySet>;
  readonly authenticator: Authenticator;
  /** Whether receipts without an anchor are waiting for one. */
  readonly isAnchoring: boolean;
  /** How long a reader may do nothing at all. */
  readonly idleTimeoutMs: number;
  readonly publicUrl: () => string;
  readonly log: Log;
}

const { exportReceipts: EXPORT } = contract.receiptTransfers;
const LOG = '/v1/log/';
const TILES = `${LOG}tile/`;
/** What a tile says once, it says for ever. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * The files of the log, whose addresses have as many segments as the log is large, and the export of receipts, which passes as it is read.
 * Beside the account API, which knows neither.
 */
export function createLogApi(deps: LogApiDeps) {
  const { publicUrl, log } = deps;
  return {
    handles: ({ method, url = '' }: IncomingMessage): boolean =>
      (method === 'GET' || method === 'HEAD') && (url.startsWith(TILES) || pathnameOf(url) === EXPORT.path),

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      for (const [name, value] of Object.entries({ ...TRANSFER_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
      try {
        const pathname = pathnameOf(req.url ?? '');
        if (pathname === EXPORT.path) await sendExport(req, res, deps);
        else await sendTile(req, res, { path: pathname.slice(LOG.length), deps });
      } catch (thrown) {
        refuseTransfer(thrown, { req, res, requestId }, { publicUrl, log });
      }
    },
  };
}

async function sendTile(req: IncomingMessage, res: ServerResponse, { path, deps }: { path: string; deps: LogApiDeps }): Promise<void> {
  if (path.startsWith('tile/entries/'))
    throw new Problem('not_found', 'Entries are receipts, which belong to their accounts: `GET /v1/receipts/export` gives each its own.');
  const tile = parseTilePath(path);
  if (!tile) throw new Problem('not_found', 'This is no address of a tile: see c2sp.org/tlog-tiles.');
  const bytes = await readTile(deps.pool, tile);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(bytes.length), 'cache-control': IMMUTABLE };
  res.writeHead(200, headers).end(req.method === 'HEAD' ? undefined : bytes);
}

async function sendExport(
  req: IncomingMessage,
  res: ServerResponse,
  { authenticator, idleTimeoutMs, log, ...deps }: LogApiDeps,
): Promise<void> {
  const principal = await admitTransfer(req, authenticator, metadataOf(EXPORT));
  const query = EXPORT.query.safeParse(Object.fromEntries(new URL(req.url ?? '', 'http://gateway.invalid').searchParams));
  if (!query.success) throw validationProblem({ query: query.error });
  const { month, livemode } = query.data;
  const lines = exportReceipts(deps, scopeOf(principal, livemode), month);
  const headers = {
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': `attachment; filename="receipts-${month}.jsonl"`,
  };
  await sendBytes({ req, res, status: 200, headers, read: async () => Readable.from(lines) }, { idleTimeoutMs, log });
}
