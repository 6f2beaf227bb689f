import {
  type Declaration,
  declarationDigest,
  isIncluded,
  type KeyDeclaration,
  leafHash,
  type PriceDeclaration,
  parseCheckpoint,
  parseNote,
  type Undeclared,
} from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { silentLog } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { publishOwnKeys } from '../own-keys.ts';
import { newSigningSeed, signingKeyFromSeed } from '../signing-keys.ts';
import { keptInMemory, storeReceipts } from '../testing/receipts.ts';
import { appendAll } from './append.ts';
import { auditLog } from './audit-log.ts';
import { listDeclarations } from './declarations.ts';
import { Declaring } from './declare.ts';
import { stopsOf } from './log-stops.ts';
import { readEntries } from './read-entries.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const clock = { now: () => NOW };
const newKey = () => signingKeyFromSeed(newSigningSeed());
const first = { receipt: [newKey()], checkpoint: [newKey()] };
const kept = keptInMemory();
const policy = { witness_policy: null as string | null, anchors: [] };
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** A gateway that is started with these keys. */
async function start(own: typeof first, rules = policy): Promise<Declaring> {
  await publishOwnKeys(pool, own, NOW);
  const declaring = new Declaring({ pool, own, kept, clock, log: silentLog() });
  await declaring.ownKeysAnd(rules);
  return declaring;
}

const declared = async (): Promise<Declaration[]> => (await listDeclarations(pool, { limit: 100 })).data.map((one) => one.declaration);

const price: Undeclared<PriceDeclaration> = {
  ...{ version: 'tallygate-declaration/v1', kind: 'price', declared_at: '2026-11-21T10:00:00.000Z', model: 'm', price_version: 'v' },
  ...{ effective_from: '2026-11-21T10:00:00.000Z', unit_prices_pico_usd: { input_tokens: '1' }, tiers: [], batch_factor: '1' },
};

const declare = async (declaring: Declaring, ...declarations: Undeclared[]): Promise<void> => {
  const keep = await inTransaction(pool, (client) => declaring.within(client, declarations));
  await keep();
};

test('each declaration names the number and digest of the one of its kind before it', async () => {
  await start(first);
  await start(first, { ...policy, witness_policy: '1 of v.example+12345678+AA==' });
  await start(first);
  const { data, declared: counts } = await listDeclarations(pool, { limit: 100 });
  for (const kind of ['key', 'policy'] as const) {
    const chain = data.filter(({ declaration }) => declaration.kind === kind);
    expect(chain.map(({ declaration: { number, previous } }) => ({ number, previous }))).toEqual(
      chain.map((_, at) => ({ number: at + 1, previous: chain[at - 1]?.digest ?? null })),
    );
  }
  expect(counts).toEqual({ price: 0, key: 3, key_retired: 0, policy: 3 });
});

describe('before it is used', () => {
  test('every key and the rules of the log are entries of it, each once', async () => {
    await start(first);
    const [checkpoint, receipt, promise, rules] = await declared();
    const before = (await declared()).length;
    expect(checkpoint).toMatchObject({ kind: 'key', purpose: 'checkpoint', kid: first.checkpoint[0]?.kid, signed_by: null });
    expect(receipt).toMatchObject({ kind: 'key', purpose: 'receipt', kid: first.receipt[0]?.kid, signed_by: null });
    expect(promise).toMatchObject({ kind: 'key', purpose: 'promise', signed_by: { kid: first.receipt[0]?.kid } });
    expect(rules).toMatchObject({ kind: 'policy', logged_within_s: 300, witness_policy: null });
    await start(first);
    expect(await declared()).toHaveLength(before);
    await start(first, { ...policy, witness_policy: '1 of w.example+12345678+AA==' });
    expect((await declared()).at(-1)).toMatchObject({ kind: 'policy', witness_policy: '1 of w.example+12345678+AA==' });
  });

  test('a new key is signed by the one before it, and the end of that one is an entry too', async () => {
    const next = newKey();
    await start({ ...first, receipt: [...first.receipt, next] });
    const added = (await declared()).findLast((one): one is KeyDeclaration => one.kind === 'key' && one.kid === next.kid);
    expect(added?.signed_by?.kid).toBe(first.receipt[0]?.kid);
    await start({ ...first, receipt: [next] });
    const retired = (await declared()).filter((one) => one.kind === 'key_retired');
    expect(retired).toMatchObject([{ purpose: 'receipt', kid: first.receipt[0]?.kid }, { purpose: 'promise' }]);
    first.receipt.splice(0, 1, next);
  });

  test('a price is an entry as soon as the transaction that writes it is seen, and not without it', async () => {
    const declaring = await start(first);
    const before = (await declared()).length;
    await expect(
      inTransaction(pool, async (client) => {
        await declaring.within(client, [price]);
        throw new Error('never mind');
      }),
    ).rejects.toThrow('never mind');
    expect(await declared()).toHaveLength(before);
    await declare(declaring, price);
    expect((await declared()).at(-1)).toEqual({ ...price, number: 1, previous: null });
  });
});

test('each is proven against the newest state, and receipts and declarations are entries of one log', async () => {
  const logKey = first.checkpoint[0] ?? newKey();
  const [id = ''] = await storeReceipts(pool, logKey, [{ completedAt: NOW }]);
  await appendAll({ pool, keys: first.checkpoint, kept, clock, log: silentLog() }, FOREVER);
  const { checkpoint, tree_size: size, data: declarations, has_more } = await listDeclarations(pool, { limit: 100 });
  const root = parseCheckpoint(parseNote(checkpoint)?.text ?? '')?.root ?? new Uint8Array();
  for (const { index, declaration, inclusion_path } of declarations) {
    const path = inclusion_path.map((hash) => Buffer.from(hash, 'base64'));
    expect(isIncluded({ index, size, leafHash: leafHash(declarationDigest(declaration)), root, path })).toBe(true);
  }
  expect([declarations.length, has_more]).toEqual([size - 1, false]);
  const { rows } = await pool.query('select digest, log_index from receipts where receipt_id = $1', [id]);
  const bundle = await readEntries({ pool, archive: emptyArchive(pool) }, { index: 0, width: size });
  expect(bundle.subarray(-32)).toEqual(rows[0].digest);
  expect(bundle.length).toBe(size * 34);
});

test('a declaration that is altered in the database is found by the audit, which stops the log', async () => {
  const found: number[] = [];
  const audit = () =>
    auditLog({ pool, archive: emptyArchive(pool), own: first, clock, log: silentLog(), onFound: (count) => found.push(count) }, FOREVER);
  await audit();
  expect([found.at(-1), await stopsOf(pool)]).toEqual([0, []]);
  await pool.query(
    'update log_declarations set declaration = replace(declaration, \'"input_tokens":"1"\', \'"input_tokens":"9"\') where kind = \'price\'',
  );
  await audit();
  expect((await stopsOf(pool)).map(({ reason }) => reason)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^the digest of entry \d+ is not that of its declaration$/)]),
  );
});

test('while the log is stopped no price is declared, and so none is written', async () => {
  const declaring = await start(first);
  await expect(declare(declaring, { ...price, price_version: 'v2' })).rejects.toThrow(Problem);
  expect((await declared()).filter(({ kind }) => kind === 'price')).toHaveLength(1);
});
