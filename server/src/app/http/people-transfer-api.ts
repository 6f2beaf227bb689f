import { Readable } from 'node:stream';
import { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import { type Origin, originOf } from '../../audit/index.ts';
import { exportPeople, importPeople } from '../../community/marketing/index.ts';
import type { Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { discardRest, Incoming } from './incoming.ts';
import type { PeerAddress } from './peer-address.ts';
import { queryOf } from './query.ts';
import { shownIdOf } from './request-ids.ts';
import type { ServedRoute } from './router.ts';
import { sendBytes, transferRoute } from './transfer.ts';

interface PeopleTransferDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly peerAddress: PeerAddress;
  readonly limits: { readonly maxFileBytes: number; readonly idleTimeoutMs: number; readonly timeoutMs: number };
  readonly log: Log;
}

const { exportAll, import: importAll } = contract.peopleTransfers;

/** People as CSV, in and out, as the bytes come. */
export const peopleTransferRoutes = (deps: PeopleTransferDeps): ServedRoute[] => [
  transferRoute(exportAll, (exchange) => sendCsv(exchange, deps)),
  transferRoute(importAll, (exchange) => takeCsv(exchange, deps)),
];

function callerOf(exchange: Exchange, { peerAddress }: PeopleTransferDeps): { principal: Principal; origin: Origin } {
  const peer = { address: peerAddress(exchange.req), userAgent: exchange.req.headers['user-agent'] ?? null };
  return { principal: principalOf(exchange), origin: originOf({ peer, requestId: shownIdOf(exchange) }) };
}

function sendCsv(exchange: Exchange, deps: PeopleTransferDeps): Promise<void> {
  const { req, res } = exchange;
  const query = queryOf(exchange, exportAll.query);
  const headers = { 'content-type': 'text/csv; charset=utf-8; header=present', 'content-disposition': 'attachment; filename="people.csv"' };
  const read = async () => Readable.from(exportPeople(deps.pool, callerOf(exchange, deps), query));
  return sendBytes({ req, res, status: 200, headers, read }, { idleTimeoutMs: deps.limits.idleTimeoutMs, log: deps.log });
}

async function takeCsv(exchange: Exchange, deps: PeopleTransferDeps): Promise<void> {
  const { req, res } = exchange;
  const { limits } = deps;
  if (!/^text\/csv\b/i.test(req.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type', 'Send the CSV file itself as the body, with Content-Type: text/csv.');
  try {
    const pieces = new Incoming(req, { ...limits, maxBytes: limits.maxFileBytes });
    const result = await importPeople(deps, callerOf(exchange, deps), textOf(pieces));
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  } catch (refusal) {
    discardRest(req);
    throw refusal;
  }
}

/** The body as text; refused if it is not UTF-8, since guessed characters would be written into people’s names. */
async function* textOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of pieces) yield decoded(decoder, piece);
  yield decoded(decoder);
}

function decoded(decoder: TextDecoder, piece?: Uint8Array): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch (cause) {
    const msg = 'must be UTF-8: save the file as “CSV UTF-8”; the rows before the fault are in';
    throw Object.assign(invalidInput([{ loc: ['body'], msg, type: 'value_error' }]), { cause });
  }
}
