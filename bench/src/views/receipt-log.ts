import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { receiptKeysOf } from '../../../server/src/app/receipt-keys.ts';
import { ownSealKey } from '../../../server/src/receipts/index.ts';
import type { Gateway } from '../gateway.ts';
import { quantile } from '../statistics.ts';

/** What a log of one size was measured to do. Times in milliseconds, sizes in bytes. */
export interface LogFindings {
  readonly entries: number;
  /** Entries a second that the gateway's own job took in, while all those new at this size were waiting. */
  readonly appendedPerSecond: number;
  readonly pathLength: number;
  readonly proofP50: number;
  readonly proofP99: number;
  readonly receiptP50: number;
  readonly consistencyP50: number;
  readonly tileP50: number;
  readonly tilesBytes: number;
  readonly checkpointsBytes: number;
  readonly receiptsBytes: number;
}

const POLL_MS = 20;
const PATIENCE_MS = 1_800_000;
const ASKED = 200;

/** Grows the log of a gateway to each of the sizes and measures it there. The receipts are made in the database: what they say is of no matter. */
export async function receiptLog(gateway: Gateway, sizes: readonly number[], onProgress: (what: string) => void): Promise<LogFindings[]> {
  const found: LogFindings[] = [];
  // What is made in the database is signed by nobody, which would stop the log at its first audit.
  await gateway.database.query(
    `create function pass_over() returns trigger language plpgsql as 'begin return null; end';
     create trigger never_stopped before insert on receipt_log_stops for each row execute function pass_over()`,
  );
  let before = await sizeOf(gateway.database);
  for (const size of sizes) {
    onProgress(`${size.toLocaleString('en')} entries`);
    await settle(gateway, size - before);
    const appendedPerSecond = await appended(gateway.database, before, size);
    found.push({ entries: size, appendedPerSecond, ...(await latencies(gateway, size)), ...(await bytesOf(gateway.database)) });
    before = size;
  }
  return found;
}

/** As large as the receipt of a chat, with ids of now, and all of them in one statement, so that they wait together. */
async function settle({ database, dataDir }: Gateway, count: number): Promise<void> {
  const sealKey = ownSealKey(
    receiptKeysOf({ receiptSigningSeeds: undefined, logSigningSeeds: undefined }, { file: (name) => join(dataDir, name) }),
  );
  // HMAC-SHA256 (RFC 2104), whose key PostgreSQL has no function for.
  const padded = (byte: number) => Buffer.alloc(64, byte).map((pad, at) => pad ^ (sealKey[at] ?? 0));
  await database.query(
    `insert into receipts (receipt_id, account_id, request_id, payload, digest, seal, livemode, kind, model, run_id, started_at)
     select id, (select id from accounts limit 1), 'req_' || at, payload, digest, substring(sha256($3::bytea || sha256($2::bytea || digest)) for 16),
       true, 'usage', 'gpt-4o-mini', null, now()
     from generate_series(1, $1::int) as at,
       lateral (select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || right(replace(gen_random_uuid()::text, '-', ''), 19 + at * 0))::uuid as id offset 0) named,
       lateral (select '{"nonce":"' || md5(at || random()::text) || '","receipt_id":"' || id || '","rest":"' || repeat(md5(at::text), 33) || '"}' as payload offset 0) said,
       lateral (select sha256(convert_to(E'tallygate-receipt/v1\\n' || payload, 'utf8')) as digest offset 0) digested`,
    [count, padded(0x36), padded(0x5c)],
  );
}

/** From the first growth that is seen to the last: the job looks once a second. */
async function appended(database: pg.Client, before: number, size: number): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  let first: { at: number; size: number } | undefined;
  for (;;) {
    const now = await sizeOf(database);
    const at = performance.now();
    if (now > before) first ??= { at, size: now };
    if (now >= size) return first && at > first.at && now > first.size ? (now - first.size) / ((at - first.at) / 1000) : Number.NaN;
    if (at > deadline) throw new Error(`The log has ${now} entries where ${size} were settled`);
    await delay(POLL_MS);
  }
}

async function sizeOf(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ size: number }>('select size::int as size from receipt_log');
  return rows[0]?.size ?? 0;
}

async function latencies({ origin, database }: Gateway, size: number) {
  const { rows } = await database.query<{ id: string }>(
    `select receipt_id::text as id from receipts where log_index in (select (random() * ${size - 1})::bigint from generate_series(1, ${ASKED})) limit ${ASKED}`,
  );
  const ids = rows.map(({ id }) => id);
  const proofs = await timed(ids.map((id) => `${origin}/v1/receipts/${id}/proof`));
  const receipts = await timed(ids.map((id) => `${origin}/v1/receipts/${id}`));
  const consistency = await timed(
    ids.map((_, at) => `${origin}/v1/log/consistency?from=${Math.ceil((size * (at + 1)) / (ids.length + 1))}&to=${size}`),
  );
  const tiles = await timed(ids.map((_, at) => `${origin}/v1/log/tile/0/${tileNumber(Math.floor(((size / 256 - 1) * at) / ids.length))}`));
  const last = await (await fetch(`${origin}/v1/receipts/${ids[0]}/proof`)).text();
  return {
    pathLength: last.slice(0, last.indexOf('\n\n')).split('\n').length - 2,
    proofP50: quantile(proofs, 0.5),
    proofP99: quantile(proofs, 0.99),
    receiptP50: quantile(receipts, 0.5),
    consistencyP50: quantile(consistency, 0.5),
    tileP50: quantile(tiles, 0.5),
  };
}

const tileNumber = (index: number): string =>
  index < 1000 ? `${index}`.padStart(3, '0') : `x${`${Math.floor(index / 1000)}`.padStart(3, '0')}/${`${index % 1000}`.padStart(3, '0')}`;

/** One after the other, to their last byte. */
async function timed(urls: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const url of urls) {
    const startedAt = performance.now();
    const response = await fetch(url);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** With their indexes. */
async function bytesOf(database: pg.Client) {
  const { rows } = await database.query<{ tiles: number; checkpoints: number; receipts: number }>(
    `select pg_total_relation_size('receipt_log_tiles')::float8 as tiles, pg_total_relation_size('receipt_log_checkpoints')::float8 as checkpoints,
       pg_total_relation_size('receipts')::float8 as receipts`,
  );
  const [{ tiles, checkpoints, receipts } = { tiles: 0, checkpoints: 0, receipts: 0 }] = rows;
  return { tilesBytes: tiles, checkpointsBytes: checkpoints, receiptsBytes: receipts };
}
