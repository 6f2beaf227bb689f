import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import { type Origin, originOf, type Principal } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { exportPeople, importPeople } from '../../marketing/index.ts';
import type { Authenticator } from './credentials.ts';
import { metadataOf } from './endpoint.ts';
import { pathnameOf } from './path-table.ts';
import type { PeerAddress } from './peer-address.ts';
import { requestIdOf } from './request-id.ts';
import { admitTransfer, refuseTransfer, sendBytes, TRANSFER_HEADERS } from './transfer.ts';
import { validationProblem } from './validation.ts';

interface PeopleTransferDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly peerAddress: PeerAddress;
  readonly limits: { readonly maxFileBytes: number; readonly idleTimeoutMs: number };
  readonly publicUrl: () => string;
  readonly log: Log;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: { readonly principal: Principal; readonly origin: Origin };
}

const { exportAll, import: importAll } = contract.peopleTransfers;

/** People as CSV, in and out, as the bytes come: beside the account API, which would hold a whole file in memory. */
export function createPeopleTransferApi(deps: PeopleTransferDeps) {
  return {
    handles: (req: IncomingMessage): boolean => routeOf(req) !== undefined,

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      for (const [name, value] of Object.entries({ ...TRANSFER_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
      try {
        const route = routeOf(req);
        if (!route) throw new Error('Asked to serve what it does not handle');
        const principal = await admitTransfer(req, deps.authenticator, metadataOf(route));
        const caller = {
          principal,
          origin: originOf({ peer: { address: deps.peerAddress(req), userAgent: req.headers['user-agent'] ?? null }, requestId }),
        };
        await (route === exportAll ? sendCsv({ req, res, caller }, deps) : takeCsv({ req, res, caller }, deps));
      } catch (thrown) {
        refuseTransfer(thrown, { req, res, requestId }, deps);
      }
    },
  };
}

function routeOf({ method, url }: IncomingMessage) {
  const path = pathnameOf(url ?? '');
  if (path === exportAll.path && (method === 'GET' || method === 'HEAD')) return exportAll;
  return path === importAll.path && method === 'POST' ? importAll : undefined;
}

function sendCsv({ req, res, caller }: Exchange, { pool, limits, log }: PeopleTransferDeps): Promise<void> {
  const query = exportAll.query.safeParse(Object.fromEntries(new URL(req.url ?? '', 'http://gateway.invalid').searchParams));
  if (!query.success) throw validationProblem({ query: query.error });
  const headers = { 'content-type': 'text/csv; charset=utf-8; header=present', 'content-disposition': 'attachment; filename="people.csv"' };
  const read = async () => Readable.from(exportPeople(pool, caller, query.data));
  return sendBytes({ req, res, status: 200, headers, read }, { idleTimeoutMs: limits.idleTimeoutMs, log });
}

async function takeCsv({ req, res, caller }: Exchange, { pool, clock, limits }: PeopleTransferDeps): Promise<void> {
  if (!/^text\/csv\b/i.test(req.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type', 'Send the CSV file itself as the body, with Content-Type: text/csv.');
  req.setTimeout(limits.idleTimeoutMs, () => req.destroy(new Problem('request_timeout', 'The file stopped coming: send it again.')));
  const result = await importPeople({ pool, clock }, caller, textOf(req, limits.maxFileBytes));
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
}

/** The body as text; refused where it is too large or no UTF-8, since guessed letters would be written into people’s names. */
async function* textOf(req: IncomingMessage, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  for await (const piece of req) {
    if (!Buffer.isBuffer(piece)) throw new Error('A body came as text');
    bytes += piece.length;
    if (bytes > maxBytes) throw new Problem('payload_too_large', 'The file is too large: send it in parts, each with its header.');
    yield decoded(decoder, piece);
  }
  yield decoded(decoder);
}

function decoded(decoder: TextDecoder, piece?: Buffer): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch (cause) {
    const msg = 'must be UTF-8: save the file as “CSV UTF-8”; the rows before the fault are in';
    throw Object.assign(invalidInput([{ loc: ['body'], msg, type: 'value_error' }]), { cause });
  }
}
