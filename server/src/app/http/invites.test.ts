import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MailRefused, type MailSender } from '../../adapters/mail/port.ts';
import { createUnsubscribing, type Unsubscribing } from '../../community/emails/index.ts';
import { createInvites, type Invites, inviteRoutes } from '../../community/invites/index.ts';
import { suppress, upsertContact } from '../../community/people/index.ts';
import { silentLog } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { createDesk, createOutbox } from '../../mail/index.ts';
import { dyingPool, type PlansUnderTest, plansUnderTest } from '../../money/plans/testing/plans.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let billing: PlansUnderTest;
let identified: Instance;
let api: Instance;
let invites: Invites;
let admin: Awaited<ReturnType<typeof signUp>>;
let unsubscribing: Unsubscribing;
let mailbox: ReturnType<typeof openMailbox>;

const over = (pool: typeof db.database.pool) =>
  createInvites({
    ...{ pool, clock: billing.clock, identity: identified.identity, plans: billing.plans },
    unsubscribeFooter: {
      unsubscribeUrlOf: async (inviteId) => `https://gateway.example/unsubscribe?token=${await unsubscribing.tokenOf(inviteId)}`,
      postalAddress: '1 Ledger Lane, London',
    },
  });

beforeAll(async () => {
  db = await openTestDatabase();
  billing = await plansUnderTest({ pool: db.database.pool });
  const { clock } = billing;
  unsubscribing = createUnsubscribing({ pool: db.database.pool, clock });
  identified = await startInstance(db.database, db.url, { clock });
  invites = over(db.database.pool);
  api = await startInstance(db.database, db.url, { clock, endpoints: endpointsOf(contract.invites, inviteRoutes(invites, clock)) });
  admin = await signUp(api, 'admin');
  mailbox = openMailbox(api, db.database);
});

afterAll(async () => {
  await api?.close();
  await identified?.close();
  await billing?.close();
  await db?.close();
});

const BATCHES = '/v1/events/admin/invite-batches';
const inDays = (days: number) => new Date(billing.clock.now() + days * 86_400_000).toISOString();
let serial = 0;
const someone = () => `guest-${++serial}@example.com`;
const make = async (input: object) => {
  const { status, body } = await send(api, BATCHES, { headers: admin.auth, json: { name: 'Beta', expires_at: inDays(30), ...input } });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
};
const get = async (path: string) => (await send(api, path, { headers: admin.auth })).body;
const post = (path: string) => send(api, path, { method: 'POST', headers: admin.auth });
/** Each from a different network by default. */
const activate = (code: string, email: string, from = `198.51.100.${++serial % 250}`) =>
  send(api, '/v1/beta/invite/activate', { headers: { 'x-forwarded-for': from }, json: { code, email } });
/** The mails go out, and that they did is learned. */
const deliver = async () => {
  await invites.goOn();
  await mailbox.to('nobody');
  await invites.goOn();
};
const invitationsTo = async (email: string) => (await mailbox.to(email)).filter(({ text }) => text.includes('/invite?'));
const codeFor = async (email: string): Promise<string> => /code=(tgi_\w+)/.exec((await invitationsTo(email)).at(-1)?.text ?? '')?.[1] ?? '';
const query = async (sql: string, values: unknown[] = []) => (await db.database.pool.query(sql, values)).rows;
const accountOf = async (email: string) =>
  (
    await query(
      "select a.id, coalesce(a.plan, 'free') as plan, u.password_hash from users u join accounts a on a.id = u.account_id where email = $1",
      [email],
    )
  )[0];
const creditOf = async (accountId: string) =>
  (await query('select coalesce(sum(amount_nano), 0)::text as credit from balance_credits where account_id = $1', [accountId]))[0].credit;

describe('a code', () => {
  test('of a hundred uses, tried by five hundred at once, is activated exactly a hundred times', async () => {
    const { code, batch_id } = await make({ shared_uses: 100 });
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        invites
          .activate({ code, email: `crowd-${n}@example.com` }, { ip: `10.0.${n >> 8}.${n & 255}`, userAgent: null, requestId: 'r' })
          .then(
            () => 'activated',
            (failure) => (failure instanceof Problem ? failure.code : String(failure)),
          ),
      ),
    );
    const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
    expect([count('activated'), count('invalid_invite')]).toEqual([100, 400]);
    expect((await get(`${BATCHES}/${batch_id}`)).counts.activations).toBe(100);
    const [{ n }] = await query(
      'select count(distinct lower(a.email))::int as n from invite_activations a join invites using (invite_id) where batch_id = $1',
      [batch_id],
    );
    expect(n).toBe(100);
    // Two hundred accounts to be made are no matter of this test.
    await query("update invite_activations set granted_at = now() where email like 'crowd-%'");
  });

  test('is activated once by one address, however often at once, and answers it the same', async () => {
    const { code, batch_id } = await make({ shared_uses: 5 });
    const email = someone();
    const answers = await Promise.all([1, 2, 3].map(() => activate(code, email)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await activate(code, email.toUpperCase())).body.activation_id).toBe(answers[0]?.body.activation_id);
    expect((await get(`${BATCHES}/${batch_id}`)).counts.activations).toBe(1);
  });

  test('that does not work gets the same refusal for every reason', async () => {
    const mailed = await make({ recipients: [{ email: 'invited@example.com' }] });
    await deliver();
    const [spent, revoked, expired] = [await make({ shared_uses: 1 }), await make({ shared_uses: 1 }), await make({ shared_uses: 1 })];
    await activate(spent.code, someone());
    expect((await post(`${BATCHES}/${revoked.batch_id}/revoke`)).body.status).toBe('revoked');
    await query('update invite_batches set expires_at = $2 where batch_id = $1', [expired.batch_id, inDays(-1)]);
    const refusals = await Promise.all(
      [`tgi_${'x'.repeat(24)}`, 'nonsense', spent.code, revoked.code, expired.code, await codeFor('invited@example.com')].map((code) =>
        activate(code, someone()),
      ),
    );
    expect(new Set(refusals.map(({ status, body }) => `${status} ${body.code} ${body.detail}`)).size).toBe(1);
    expect(refusals[0]?.body.code).toBe('invalid_invite');
    expect((await get(`${BATCHES}/${mailed.batch_id}`)).counts.activations).toBe(0);
  });

  test('cannot be guessed: many attempts are slowed down, and a correct one is free', async () => {
    const email = someone();
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await activate(`tgi_${n}`, email, '203.0.113.77')).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    const { code } = await make({ shared_uses: 20 });
    for (let n = 0; n < 12; n++) expect((await activate(code, someone(), '203.0.113.78')).status).toBe(201);
  });

  test('is stored as a hash, and shown once', async () => {
    const { code, batch_id } = await make({ shared_uses: 1 });
    expect(code).toMatch(/^tgi_\w{24}$/);
    expect(JSON.stringify([await get(`${BATCHES}/${batch_id}`), await get(`${BATCHES}/${batch_id}/invites`)])).not.toContain(code);
    expect(JSON.stringify(await query('select * from invites where batch_id = $1', [batch_id]))).not.toContain(code);
  });
});

test('an invitation with an unknown outcome is unconfirmed, and not mailed again', async () => {
  const email = someone();
  await deliver();
  const { batch_id } = await make({ recipients: [{ email }] });
  await invites.goOn();
  const breaking: MailSender = {
    close: async () => {},
    async send(_mail, beforeHandover) {
      await beforeHandover?.();
      throw new Error('the connection broke');
    },
  };
  const desk = createDesk(identified.box, () => 'https://app.example');
  await createOutbox({ pool: db.database.pool, sender: breaking, desk, log: silentLog(), keptDays: 30 }).sendDue();
  await deliver();
  expect((await get(`${BATCHES}/${batch_id}`)).counts).toMatchObject({ unconfirmed: 1, queued: 0, sent: 0 });
  expect((await get(`${BATCHES}/${batch_id}/invites`)).data).toMatchObject([{ status: 'unconfirmed', failure: 'the connection broke' }]);
  expect(await invitationsTo(email)).toEqual([]);
});

test.each([
  ['address, so that it gets nothing more', 'recipient', { later: 'suppressed', bounces: 1 }],
  ['text alone, which is nothing against the address', 'mail', { later: 'queued', bounces: 0 }],
] as const)('an invitation that is refused permanently for its %s', async (_what, of, { later, bounces }) => {
  const email = someone();
  await deliver();
  const { batch_id } = await make({ recipients: [{ email: email.toUpperCase() }] });
  await invites.goOn();
  const refusing: MailSender = {
    close: async () => {},
    send: () => Promise.reject(new MailRefused('550 says no', { of })),
  };
  const desk = createDesk(identified.box, () => 'https://app.example');
  await createOutbox({ pool: db.database.pool, sender: refusing, desk, log: silentLog(), keptDays: 30 }).sendDue();
  await invites.goOn();
  expect((await get(`${BATCHES}/${batch_id}/invites`)).data).toMatchObject([{ status: 'failed', failure: '550 says no' }]);
  expect(
    await query(
      `select count(p.bounced_at)::int as bounced, count(h.*)::int as noted from people p
         left join person_history h on h.person_id = p.person_id and h.action = 'bounce' and h.detail ->> 'error' = '550 says no'
       where p.email = $1`,
      [email],
    ),
  ).toEqual([{ bounced: bounces, noted: bounces }]);
  const again = await make({ recipients: [{ email }] });
  await invites.goOn();
  expect((await get(`${BATCHES}/${again.batch_id}`)).counts).toMatchObject({ [later]: 1 });
});

describe('an activation', () => {
  test('makes an account without a password, which only the mail to its address opens, and gives it what the batch says, once', async () => {
    const { code } = await make({ shared_uses: 2, plan_id: 'pro', trial_days: 30, credit_usd: '12.5' });
    const email = someone();
    const { status, body } = await activate(code, email);
    expect([status, body]).toMatchObject([201, { status: 'activated', email, plan_id: 'pro', plan_until: inDays(30), credit_usd: '12.5' }]);
    await Promise.all([invites.goOn(), invites.goOn(), over(db.database.pool).goOn()]);
    await invites.goOn();
    const account = await accountOf(email);
    expect([account.plan, account.password_hash, await creditOf(account.id)]).toEqual(['pro', '!', '12500000000']);
    expect(
      await query("select count(*)::int as n from postings where kind = 'promotion' and request_id = $1", [body.activation_id]),
    ).toEqual([{ n: 1 }]);
    expect((await mailbox.to(email)).map(({ subject }) => subject)).toEqual(['An account was made for you', 'Your plan is now Pro']);
    expect(await query('select sources from people where email = $1', [email])).toEqual([{ sources: expect.arrayContaining(['invite']) }]);
  });

  test('of a batch without plan and credit creates a claimable account, and posts nothing', async () => {
    const { code, grants } = await make({ shared_uses: 1 });
    expect(grants).toEqual({ plan_id: null, trial_days: null, credit_usd: '0' });
    const email = someone();
    expect((await activate(code, email)).body).toMatchObject({ status: 'activated', plan_id: null, plan_until: null, credit_usd: '0' });
    await invites.goOn();
    const account = await accountOf(email);
    expect([account.plan, await creditOf(account.id)]).toEqual(['free', '0']);
    expect((await mailbox.to(email)).map(({ subject }) => subject)).toEqual(['An account was made for you']);
  });

  test('goes to the account that is there, and answers just as for one that is not', async () => {
    const { code } = await make({ shared_uses: 2, credit_usd: '1' });
    const [member, stranger] = [await signUp(api), someone()];
    const confirmation = { token: await mailbox.tokenFor(member.email, 'verify-email') };
    expect((await send(api, '/v1/users/verify-email', { json: confirmation })).status).toBe(204);
    const before = (await mailbox.to(member.email)).length;
    const [known, unknown] = [await activate(code, member.email), await activate(code, stranger)];
    expect(Object.keys(known.body)).toEqual(Object.keys(unknown.body));
    await invites.goOn();
    expect(await creditOf(member.accountId)).toBe('1000000000');
    expect(await mailbox.to(member.email)).toHaveLength(before);
  });
});

describe('an account that was created with the address of another person', () => {
  test('gets nothing meant for the address until its owner claims it, alone', async () => {
    const squatter = await signUp(api);
    const { email, accountId } = squatter;
    const key = await newKey(api, squatter.auth);
    await query("update users set mfa_enabled_at = now(), mfa_sealed_secret = 'x' where id = $1", [squatter.userId]);
    const early = await mailbox.tokenFor(email, 'verify-email');
    const { batch_id } = await make({ recipients: [{ email }], plan_id: 'pro', trial_days: 30, credit_usd: '10' });
    await deliver();
    expect((await activate(await codeFor(email), email)).body.status).toBe('activated');
    await Promise.all([invites.goOn(), over(db.database.pool).goOn()]);
    await invites.goOn();
    expect([(await accountOf(email)).plan, await creditOf(accountId)]).toEqual(['free', '0']);
    const claims = async () => (await mailbox.to(email)).filter(({ subject }) => subject === 'Make the account of this address yours');
    expect(await claims()).toHaveLength(1);

    // Confirming would leave the account to the person who knows its password; requesting that link again leads to a claim as well.
    expect((await send(api, '/v1/users/verify-email', { json: { token: early } })).body.code).toBe('invalid_token');
    await query("update mail_tokens set created_at = created_at - interval '2 minutes' where email = $1", [email]);
    await send(api, '/v1/users/verify-email/resend', { json: { email } });
    expect(await claims()).toHaveLength(2);

    const mine = { token: await mailbox.tokenFor(email, 'reset-password'), new_password: 'a password of my own' };
    expect((await send(api, '/v1/users/password-reset/confirm', { json: mine })).status).toBe(204);
    for (const { auth } of [squatter, key]) expect((await send(api, '/v1/keys', { headers: auth })).status).toBe(401);
    const login = { headers: { 'x-forwarded-for': '192.0.2.9' }, json: { email, password: mine.new_password } };
    expect((await send(api, '/v1/users/login', login)).body.session.token).toMatch(/^tgs_/);
    await invites.goOn();
    expect([(await accountOf(email)).plan, await creditOf(accountId)]).toEqual(['pro', '10000000000']);
    expect((await get(`${BATCHES}/${batch_id}`)).counts.activations).toBe(1);
  });

  test('is not linked once it has another address: the owner gets a separate account', async () => {
    const squatter = await signUp(api);
    const { code } = await make({ shared_uses: 1, credit_usd: '3' });
    await activate(code, squatter.email);
    await invites.goOn();
    await query('update users set email = $2, email_verified_at = now() where id = $1', [squatter.userId, someone()]);
    await invites.goOn();
    const account = await accountOf(squatter.email);
    expect([account.id === squatter.accountId, await creditOf(account.id), await creditOf(squatter.accountId)]).toEqual([
      false,
      '3000000000',
      '0',
    ]);
  });
});

describe('a batch', () => {
  test('is mailed to each recipient once, not to those who want no mail, and shows how far it is', async () => {
    const [ada, grace, quiet] = [someone(), someone(), someone()];
    await query("insert into suppressed_addresses select address_hash($1), 'unsubscribed', now()", [quiet]);
    const recipients = [{ email: ada, name: 'Ada' }, { email: ada.toUpperCase() }, { email: grace }, { email: quiet }];
    const made = await make({ recipients, subject: 'Come in, {{name}}', message: 'Hello <b>{{name}}</b>.\n\nWelcome.' });
    expect([made.status, made.counts]).toMatchObject(['sending', { total: 3, pending: 3, sent: 0 }]);
    await Promise.all([invites.goOn(), over(db.database.pool).goOn()]);
    expect((await get(`${BATCHES}/${made.batch_id}`)).counts).toMatchObject({ pending: 0, queued: 2, suppressed: 1 });
    await deliver();
    const after = await get(`${BATCHES}/${made.batch_id}`);
    expect([after.status, after.counts]).toMatchObject(['sent', { queued: 0, sent: 2, suppressed: 1 }]);
    const [mail] = await invitationsTo(ada);
    expect([mail?.subject, mail?.html]).toEqual(['Come in, Ada', expect.stringContaining('Hello &lt;b&gt;Ada&lt;/b&gt;.')]);
    expect([await invitationsTo(ada), await invitationsTo(grace), await invitationsTo(quiet)].map(({ length }) => length)).toEqual([
      1, 1, 0,
    ]);
    expect((await activate(await codeFor(ada), ada)).status).toBe(201);
    const { data } = await get(`${BATCHES}/${made.batch_id}/invites`);
    expect([data.length, data.map(({ email, status, uses }: Record<string, unknown>) => [email, status, uses])]).toEqual([
      3,
      [
        [ada, 'sent', 1],
        [grace, 'sent', 0],
        [quiet, 'suppressed', 0],
      ],
    ]);
    expect((await get(`${BATCHES}?limit=1`)).data[0].batch_id).toBe(made.batch_id);
  });

  test('names sender and unsubscribe link in each mail, and sends no later one after it is used', async () => {
    const email = someone();
    const { batch_id } = await make({ recipients: [{ email: email.toUpperCase() }] });
    await deliver();
    const [mail] = (await mailbox.to(email.toUpperCase())).filter(({ text }) => text.includes('/invite?'));
    const token = /^https:\/\/gateway\.example\/unsubscribe\?token=([\w-]{43})$/.exec(mail?.unsubscribeUrl ?? '')?.[1] ?? '';
    for (const part of [mail?.text, mail?.html]) {
      expect(part).toContain(mail?.unsubscribeUrl);
      expect(part).toContain('1 Ledger Lane, London');
    }
    expect([await unsubscribing.unsubscribe(token), await unsubscribing.unsubscribe(token)]).toEqual([true, true]);
    const [{ invite_id }] = (await get(`${BATCHES}/${batch_id}/invites`)).data;
    expect(
      await query(
        `select p.unsubscribed_at is not null as is_unsubscribed, h.detail from people p join person_history h using (person_id)
         where p.email = $1 and h.action = 'unsubscribe'`,
        [email],
      ),
    ).toEqual([{ is_unsubscribed: true, detail: { invite_id } }]);
    const later = await make({ recipients: [{ email }] });
    await deliver();
    expect((await get(`${BATCHES}/${later.batch_id}`)).counts).toMatchObject({ sent: 0, suppressed: 1 });
    expect(await invitationsTo(email)).toEqual([]);
  });

  test('that is queued is not sent once its recipient has unsubscribed, and is marked suppressed', async () => {
    const email = someone();
    await deliver();
    const { batch_id } = await make({ recipients: [{ email: email.toUpperCase() }] });
    await invites.goOn();
    await suppress(db.database.pool, { emails: [email], reason: 'unsubscribed', at: new Date() });
    await deliver();
    expect((await get(`${BATCHES}/${batch_id}`)).counts).toMatchObject({ queued: 0, sent: 0, failed: 0, suppressed: 1 });
    expect((await get(`${BATCHES}/${batch_id}/invites`)).data).toMatchObject([{ status: 'suppressed', failure: null }]);
    expect(await invitationsTo(email.toUpperCase())).toEqual([]);
  });

  test('to a filter invites each match once, with concurrent lookups, and none erased meanwhile', async () => {
    const [ada, grace, gone] = [someone(), someone(), someone()];
    for (const email of [ada, grace, gone, someone()]) await upsertContact(db.database.pool, { email, source: 'import', at: new Date() });
    await db.database.pool.query("update people set tags = '{chosen}' where email = any($1)", [[ada, grace, gone]]);
    const made = await make({ filter: { q: '#chosen' }, credit_usd: '1' });
    expect(made).toMatchObject({ status: 'sending', filter: { q: '#chosen' }, counts: { total: 0 } });
    const other = await db.database.pool.connect();
    await other.query('begin');
    await other.query('select from people where email = $1 for update', [gone]);
    const looking = Promise.all([invites.goOn(), over(db.database.pool).goOn()]);
    await other.query('delete from people where email = $1', [gone]);
    await other.query('commit');
    other.release();
    await looking;
    await deliver();
    expect(await get(`${BATCHES}/${made.batch_id}`)).toMatchObject({ status: 'sent', counts: { total: 2, sent: 2 } });
    expect((await activate(await codeFor(ada), ada)).status).toBe(201);
    expect(await codeFor(gone)).toBe('');
  });

  test('to a filter invites nobody once it is revoked', async () => {
    await upsertContact(db.database.pool, { email: someone(), source: 'import', at: new Date() });
    const { batch_id } = await make({ filter: {} });
    await post(`${BATCHES}/${batch_id}/revoke`);
    await invites.goOn();
    expect((await get(`${BATCHES}/${batch_id}`)).counts).toMatchObject({ total: 0 });
  });

  test('whose worker dies at any statement is mailed to each recipient exactly once', async () => {
    const recipients = [{ email: someone() }, { email: someone() }];
    await make({ recipients });
    for (let statements = 0; statements < 14; statements++)
      await over(dyingPool(db.database.pool, () => statements))
        .goOn()
        .catch(() => {});
    await deliver();
    await deliver();
    for (const { email } of recipients) {
      expect(await invitationsTo(email)).toHaveLength(1);
      expect((await activate(await codeFor(email), email)).status).toBe(201);
    }
  });

  test('of thousands leaves room in the outbox for others, and continues as its mails are sent', async () => {
    const made = await make({ recipients: Array.from({ length: 150 }, (_, n) => ({ email: `many-${n}@example.com` })) });
    await invites.goOn();
    await invites.goOn();
    expect((await get(`${BATCHES}/${made.batch_id}`)).counts).toMatchObject({ queued: 100, pending: 50 });
    await deliver();
    await deliver();
    expect((await get(`${BATCHES}/${made.batch_id}`)).counts).toMatchObject({ queued: 0, pending: 0, sent: 150 });
  });

  test('that is revoked, or one invitation of it, sends nothing more and opens nothing more', async () => {
    const [first, second] = [someone(), someone()];
    const one = await make({ recipients: [{ email: first }, { email: second }] });
    const { data } = await get(`${BATCHES}/${one.batch_id}/invites`);
    const single = `${BATCHES}/${one.batch_id}/invites/${data[0].invite_id}/revoke`;
    expect([(await post(single)).body.status, (await post(single)).status]).toEqual(['revoked', 200]);
    await deliver();
    expect([await invitationsTo(first), await invitationsTo(second)].map(({ length }) => length)).toEqual([0, 1]);
    expect([(await post(`${BATCHES}/${one.batch_id}/revoke`)).status, (await activate(await codeFor(second), second)).status]).toEqual([
      200, 400,
    ]);
    const trail = await query('select action from audit_log where target_id in ($1, $2) order by id', [one.batch_id, data[0].invite_id]);
    expect(trail.map(({ action }) => action)).toEqual(['invite_batch.created', 'invite.revoked', 'invite_batch.revoked']);
    const none = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
    const missing = [get(`${BATCHES}/${none}`), get(`${BATCHES}/${none}/invites`), post(`${BATCHES}/${none}/revoke`)];
    const elsewhere = post(`${BATCHES}/${none}/invites/${data[1].invite_id}/revoke`);
    expect((await Promise.all([...missing, elsewhere])).map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
  });

  test.each([
    ['neither recipients nor a shared code', {}, 'recipients'],
    ['both', { shared_uses: 1, recipients: [{ email: 'a@example.com' }] }, 'recipients'],
    ['a plan without days', { shared_uses: 1, plan_id: 'pro' }, 'trial_days'],
    ['an end in the past', { shared_uses: 1, expires_at: '2020-01-01T00:00:00.000Z' }, 'expires_at'],
    ['a fortune', { shared_uses: 1, credit_usd: '10001' }, 'credit_usd'],
    ['an address that is none', { recipients: [{ email: 'ada' }] }, 'recipients'],
    ['a line break in the subject', { shared_uses: 1, subject: 'a\r\nBcc: x' }, 'subject'],
  ])('with %s is refused', async (_what, input, field) => {
    const json = { name: 'Beta', expires_at: inDays(30), ...input };
    const { status, body } = await send(api, BATCHES, { headers: admin.auth, json });
    expect([status, body.errors[0].loc.slice(0, 2)]).toEqual([422, ['body', field]]);
  });
});
