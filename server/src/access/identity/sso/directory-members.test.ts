import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Instance, openTestDatabase, send, signUp, startInstance } from '../../../app/http/testing/account-api.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { type Arrival, memberFor } from './directory-members.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;

beforeAll(async () => {
  db = await openTestDatabase();
  api = await startInstance(db.database, db.url);
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

/** Signs the same person in again and again, who is in these groups. */
async function company(groups: readonly string[]) {
  const owner = await signUp(api);
  const subject = randomUUID();
  const signIn = async (rules: Arrival['rules']) => {
    const identity = { subject, email: `${subject}@example.com`, name: 'Ada', groups, session: null };
    const origin = { ip: '192.0.2.1', userAgent: null, requestId: 'r' };
    const arrival = { ...{ accountId: owner.accountId, issuer: 'https://id.example', identity, rules, origin }, at: new Date() };
    const { id, accountRole } = await inUnitOfWork(db.database.orm.em, (unit) =>
      memberFor(unit, { ...arrival, isDeactivated: async () => false, planOf: () => 'developer' }),
    );
    return { id, accountRole };
  };
  const setRole = (id: string, account_role: string) =>
    send(api, `/v1/members/${id}`, { method: 'PATCH', headers: owner.auth, json: { account_role } });
  return { signIn, setRole };
}

test('where no group decides, a sign-in keeps the role that people have given', async () => {
  const { signIn, setRole } = await company(['engineers']);
  const rules = { roles: [], defaultRole: 'developer' } as const;
  const { id, accountRole } = await signIn(rules);
  expect(accountRole).toBe('developer');
  expect((await setRole(id, 'billing')).status).toBe(200);
  expect(await signIn(rules)).toEqual({ id, accountRole: 'billing' });
});

test('where groups decide, a sign-in gives the role of the first group that somebody is in, or the default', async () => {
  const { signIn, setRole } = await company(['engineers', 'finance']);
  const of = (...groups: string[]) => groups.map((group) => ({ group, role: group === 'finance' ? 'billing' : 'viewer' }) as const);
  const { id, accountRole } = await signIn({ roles: of('finance', 'engineers'), defaultRole: null });
  expect(accountRole).toBe('billing');
  await setRole(id, 'admin');
  expect((await signIn({ roles: of('engineers', 'finance'), defaultRole: null })).accountRole).toBe('viewer');
  expect((await signIn({ roles: of('cooks'), defaultRole: 'developer' })).accountRole).toBe('developer');
  await expect(signIn({ roles: of('cooks'), defaultRole: null })).rejects.toMatchObject({ code: 'forbidden' });
});
