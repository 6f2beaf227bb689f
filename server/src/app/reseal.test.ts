import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { secretContextOf } from '../access/identity/mfa/second-factor.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { newId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { createSecretBox } from '../kernel/secret-box.ts';
import { createDesk, sealForMail } from '../mail/desk.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { resealSecrets } from './reseal.ts';

const local = { id: 'local', key: Buffer.alloc(32, 1) };
const fresh = { id: 'fresh', key: Buffer.alloc(32, 2) };
const before = createSecretBox([local]);
const rotating = createSecretBox([fresh, local]);
const after = createSecretBox([fresh]);
let db: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
let lines: string[];
const log = pino({}, { write: (line: string) => void lines.push(line) });

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool({ url: db.url, log: silentLog(), poolSize: 2 });
});
afterAll(async () => {
  await pool?.end();
  await db?.drop();
});
beforeEach(async () => {
  lines = [];
  await pool.query('truncate users, mails cascade');
});

/** A user with a second factor and a mail that waits, both sealed with the key from before. */
async function sealedBefore() {
  const [userId, accountId] = [newId(), newId()];
  await pool.query(`insert into accounts (id, name, created_at) values ($1, 'Ada', now())`, [accountId]);
  await pool.query(
    `insert into users (id, account_id, email, role, password_hash, created_at, mfa_sealed_secret)
     values ($1, $2, $3, 'member', '!', now(), $4)`,
    [userId, accountId, `${userId}@example.com`, before.seal('JBSWY3DP', secretContextOf({ id: userId }))],
  );
  await queueMail(pool, {
    to: 'ada@example.com',
    template: 'verify-email',
    data: { sealed_token: sealForMail(before, 'tgv_token'), expires_at: '2026-11-22T08:00:00.000Z' },
  });
  return userId;
}

const sealedRows = async () => {
  const { rows } = await pool.query<{ secret: string; token: string }>(
    `select u.mfa_sealed_secret as secret, m.data->>'sealed_token' as token from users u, mails m`,
  );
  return rows[0] ?? { secret: '', token: '' };
};

test('everything is sealed with the first key, so that the old one can go', async () => {
  const userId = await sealedBefore();
  await resealSecrets({ pool, box: rotating, log });
  const { secret, token } = await sealedRows();
  expect(after.open(secret, secretContextOf({ id: userId })).plain).toBe('JBSWY3DP');
  expect(createDesk(after, () => '').unseal(token)).toBe('tgv_token');
  expect(lines.join()).toContain('older ones may be removed');
  await resealSecrets({ pool, box: after, log });
  expect(await sealedRows()).toEqual({ secret, token });
});

test('a key that is missing is named, and nothing is changed', async () => {
  await sealedBefore();
  const rows = await sealedRows();
  await expect(resealSecrets({ pool, box: after, log })).rejects.toThrow('"local", which is not configured');
  expect(await sealedRows()).toEqual(rows);
});

test('what does not open is left as it is, and the log does not say that the old key may go', async () => {
  await sealedBefore();
  await pool.query('update users set mfa_sealed_secret = $1', [before.seal('JBSWY3DP', 'another context')]);
  await resealSecrets({ pool, box: rotating, log });
  const { secret, token } = await sealedRows();
  expect([before.keyIdOf(secret), before.keyIdOf(token)]).toEqual(['local', 'fresh']);
  expect(lines.join()).toContain('keep the older master keys');
  expect(lines.join()).not.toContain('may be removed');
});
