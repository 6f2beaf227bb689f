import { randomBytes, sign } from 'node:crypto';
import { canonicalJson, detachedJws, jwsSigningInput, type KeyDeclaration, leafHash, type Undeclared } from '@tallygate/receipts';
import pg from 'pg';
import { digestOf } from '../../../server/src/receipts/issue-receipt.ts';
import { DeclarationChain } from '../../../server/src/receipts/log/declaration-chain.ts';
import { digestOfDeclaration } from '../../../server/src/receipts/log/declare.ts';
import { checkpointNote } from '../../../server/src/receipts/log/grow-log.ts';
import { sha256 } from '../../../server/src/receipts/log/stored-tree.ts';
import { EMPTY_EDGE, grownEdge, rootOfEdge } from '../../../server/src/receipts/log/tile-rows.ts';
import { recordOfKey } from '../../../server/src/receipts/own-keys.ts';
import { putDown } from '../../../server/src/receipts/own-records.ts';
import { type PackedRow, payloadOf } from '../../../server/src/receipts/packed-receipt.ts';
import { newSigningSeed, type SigningKey, signingKeyFromSeed } from '../../../server/src/receipts/signing-keys.ts';

/** A receipt as the log has it. */
export interface LoggedRow {
  readonly receipt_id: string;
  readonly payload: string;
}

/** The operator of the gateway: has its database, and the keys of its log. */
export interface CheatingOperator {
  /** The number of earlier entries of the log: the declarations before the first charge. */
  readonly declared: number;
  /** The receipts of the log, in its order. */
  entries(): Promise<LoggedRow[]>;
  /** Makes the log to be one of these receipts behind what was declared, and signs it, as if it had never been another. */
  makeLog(entries: readonly LoggedRow[]): Promise<void>;
  /** Publishes a key for receipts that the operator has just made, as if it were one of the gateway's. */
  publishKey(): Promise<NewKey>;
  /** Says in the log that this key signs from now on; nobody, or another key, vouches for it. */
  declareKey(key: NewKey, signer?: SigningKey): Promise<void>;
  /** Writes to the database without the keys. */
  sql(statement: string, values?: readonly unknown[]): Promise<void>;
  /** Puts everything back. */
  undo(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface DeclarationRow {
  readonly log_index: string;
  readonly kind: string;
  readonly subject: string;
  readonly digest: Buffer;
  readonly declaration: string;
}

/** As a key is published. */
interface NewKey {
  readonly kid: string;
  readonly x: string;
  readonly purpose: 'receipt';
  readonly not_before: Date;
  readonly not_after: null;
}

/** A receipt that was never issued. */
export const invented = (like: LoggedRow): LoggedRow => ({
  ...like,
  payload: like.payload.replace(/"nonce":"[^"]+"/, `"nonce":"${randomBytes(16).toString('hex')}"`),
});

export async function openCheatingOperator(databaseUrl: string, logSeed: Uint8Array): Promise<CheatingOperator> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const client = await pool.connect();
  const key = signingKeyFromSeed(Buffer.from(logSeed));
  const entries = async () =>
    (await client.query<PackedRow>('select * from receipts where log_index is not null order by log_index')).rows.map((row) => ({
      receipt_id: row.receipt_id,
      payload: payloadOf(row),
    }));
  const honest = await entries();
  const declarations = (await client.query<DeclarationRow>('select * from log_declarations order by log_index')).rows;
  const { rows: kept } = await client.query<{ size: string; root: Buffer; note: string; created_at: Date }>(
    'select * from receipt_log_checkpoints',
  );

  const { rows: owners } = await client.query<{ receipt_id: string; account_id: string }>('select receipt_id, account_id from receipts');
  const { rows: keys } = await client.query<{ kid: string; not_before: Date }>('select kid, not_before from signing_keys');

  /** @param digests of all entries of the log */
  const signLog = async (digests: readonly Buffer[]) => {
    const { rows } = await client.query<{ origin: string }>('select origin from receipt_log');
    const leaves = digests.map((digest) => leafHash(digest));
    const { edge, written } = grownEdge(EMPTY_EDGE, leaves, sha256);
    const size = digests.length;
    const root = rootOfEdge(edge, sha256);
    await client.query('delete from receipt_log_tiles');
    await client.query('delete from receipt_log_checkpoints');
    for (const { level, start, hashes } of written)
      await client.query('insert into receipt_log_tiles (level, start, hashes) values ($1, $2, $3)', [level, start, hashes]);
    const note = checkpointNote({ origin: rows[0]?.origin ?? '', size, root }, [key]);
    await client.query('insert into receipt_log_checkpoints (size, root, note, created_at) values ($1, $2, $3, now())', [
      ...[size, Buffer.from(root), note],
    ]);
    await client.query('update receipt_log set size = $1', [size]);
  };
  const digestsWith = (receipts: readonly LoggedRow[]) => [
    ...declarations.map(({ digest }) => digest),
    ...receipts.map(({ payload }) => digestOf(payload)),
  ];
  const makeLog: CheatingOperator['makeLog'] = async (wanted) => {
    await signLog(digestsWith(wanted));
    await client.query('update receipts set log_index = null');
    for (const [index, { receipt_id, payload }] of wanted.entries())
      await client.query('update receipts set log_index = $2, payload = $3, packed = null, digest = $4 where receipt_id = $1', [
        ...[receipt_id, declarations.length + index, payload, digestOf(payload)],
      ]);
  };
  const declareKey: CheatingOperator['declareKey'] = async (made, signer) => {
    const chain = await DeclarationChain.open(client);
    const declaration = keyDeclaration(made, chain, signer);
    const digest = digestOfDeclaration(declaration);
    const digests = digestsWith(honest);
    await signLog([...digests, digest]);
    await client.query("insert into log_declarations (log_index, kind, subject, digest, declaration) values ($1, 'key', $2, $3, $4)", [
      ...[digests.length, made.kid, digest, canonicalJson(declaration)],
    ]);
  };
  // As a lie of the operator's own software would: what runs honestly here must not set things right meanwhile.
  await client.query(`insert into receipt_log_stops (reason, stopped_at) values ('the operator cheats', now())`);
  const publishKey = async (): Promise<NewKey> => {
    const { kid, x } = signingKeyFromSeed(newSigningSeed());
    const made = { kid, x, purpose: 'receipt', not_before: new Date(), not_after: null } as const;
    await client.query('insert into signing_keys (kid, purpose, x, not_before) values ($1, $2, $3, $4)', [
      ...[kid, made.purpose, x, made.not_before],
    ]);
    await putDown(client, [recordOfKey(made)], [key]);
    return made;
  };
  return {
    declared: declarations.length,
    ...{ entries, makeLog, publishKey, declareKey },
    sql: async (statement, values = []) => void (await client.query(statement, [...values])),
    undo: async () => {
      await client.query('delete from log_declarations');
      for (const { log_index, kind, subject, digest, declaration } of declarations)
        await client.query('insert into log_declarations (log_index, kind, subject, digest, declaration) values ($1, $2, $3, $4, $5)', [
          ...[log_index, kind, subject, digest, declaration],
        ]);
      await makeLog(honest);
      for (const { receipt_id, account_id } of owners)
        await client.query('update receipts set account_id = $2 where receipt_id = $1', [receipt_id, account_id]);
      const kids = keys.map(({ kid }) => kid);
      await client.query('delete from signing_keys where kid <> all($1)', [kids]);
      await client.query("delete from own_records where record like 'key %' and split_part(record, ' ', 2) <> all($1)", [kids]);
      for (const { kid, not_before } of keys)
        await client.query('update signing_keys set not_before = $2 where kid = $1', [kid, not_before]);
      await client.query('delete from receipt_log_checkpoints');
      for (const { size, root, note, created_at } of kept)
        await client.query('insert into receipt_log_checkpoints (size, root, note, created_at) values ($1, $2, $3, $4)', [
          size,
          root,
          note,
          created_at,
        ]);
    },
    [Symbol.asyncDispose]: async () => {
      client.release();
      await pool.end();
    },
  };
}

function keyDeclaration(
  { kid, x, purpose, not_before: from }: NewKey,
  chain: DeclarationChain,
  signer: SigningKey | undefined,
): KeyDeclaration {
  const at = from.toISOString();
  const declaration: Undeclared<KeyDeclaration> = {
    ...{ version: 'tallygate-declaration/v1', kind: 'key', declared_at: at, purpose, kid, x },
    ...{ not_before: at, signed_by: null },
  };
  return chain.link<KeyDeclaration>(declaration, (unsigned) => {
    if (!signer) return unsigned;
    const input = jwsSigningInput(signer.kid, Buffer.from(canonicalJson(unsigned)), 'tallygate-key');
    const jws = detachedJws(signer.kid, sign(null, input, signer.privateKey).toString('base64url'), 'tallygate-key');
    return { ...unsigned, signed_by: { kid: signer.kid, jws } };
  });
}
