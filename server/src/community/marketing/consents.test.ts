import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { claimConsent, findPeople, indexPeople, type PersonRow, suppress, suppressedAmong, upsertContact } from '../people/index.ts';
import { createConsents } from './consents.ts';

const DAY_MS = 86_400_000;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
const clock = { nowMs: Date.parse('2026-11-21T08:00:00Z'), now: () => clock.nowMs };
const now = () => new Date(clock.nowMs);
const consents = () => createConsents({ pool, clock, openReference: (token) => token });
let serial = 0;
let email: string;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
beforeEach(() => {
  email = `reader-${++serial}@example.com`;
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** A form that was sent with this address, with the box ticked. */
async function ticked(address = email): Promise<void> {
  await upsertContact(pool, { email: address, source: 'registration', eventSlug: 'launch', at: now() });
  await claimConsent(pool, { email: address, source: 'registration', eventSlug: 'launch', at: now() });
}
const mails = async (address = email): Promise<string[]> => {
  await consents().askDue();
  const { rows } = await pool.query("select data ->> 'reference' as token from mails where recipient = $1 order by created_at, id", [
    address,
  ]);
  return rows.map(({ token }) => token);
};
const asked = async (address = email): Promise<string> => (await mails(address)).at(-1) ?? '';
const person = async (address = email): Promise<PersonRow> =>
  (await pool.query<PersonRow>('select * from people where email = $1', [address])).rows[0] ?? expect.fail(`${address} is nobody`);
const unsubscribe = async (address = email) => {
  await pool.query('update people set unsubscribed_at = $2, updated_at = $2 where email = $1 and unsubscribed_at is null', [
    address,
    now(),
  ]);
  await suppress(pool, { emails: [address], reason: 'unsubscribed', at: now() });
};
const history = async (address = email): Promise<string[]> => {
  const { rows } = await pool.query(
    "select h.action from person_history h join people p using (person_id) where p.email = $1 and action like 'consent%' order by h.at, h.action",
    [address],
  );
  return rows.map(({ action }) => action);
};

describe('a tick on a form', () => {
  test('has no effect before the owner of the address confirms it; then it has place and time', async () => {
    await ticked();
    expect(await person()).toMatchObject({ consent_source: 'registration', consent_event_slug: 'launch', consent_confirmed_at: null });
    const token = await asked();
    expect(await consents().standOf(token)).toBe('asked');
    clock.nowMs += 60_000;
    expect([await consents().confirm(token), await consents().confirm(token)]).toEqual([true, true]);
    expect((await person()).consent_confirmed_at).toEqual(now());
    expect(await history()).toEqual(['consent', 'consent_confirmed']);
  });

  test('asks once in seven days, however often a stranger sends it', async () => {
    await ticked();
    const [first] = await mails();
    clock.nowMs += DAY_MS;
    await ticked();
    expect(await mails()).toEqual([first]);
    clock.nowMs += 7 * DAY_MS;
    expect(await consents().confirm(first ?? '')).toBe(false);
    await ticked();
    expect(await mails()).toHaveLength(2);
  });

  test('by two at once asks once', async () => {
    await ticked();
    await Promise.all([ticked(), ticked(), consents().askDue(), consents().askDue()]);
    expect(await mails()).toHaveLength(1);
  });

  test('does not write to an address whose mail comes back', async () => {
    await upsertContact(pool, { email, source: 'registration', at: now() });
    await pool.query('update people set bounced_at = $2 where email = $1', [email, now()]);
    await ticked();
    expect(await mails()).toEqual([]);
  });

  test('reveals nothing about an erased person', async () => {
    await suppress(pool, { emails: [email], reason: 'erased', at: now() });
    await ticked();
    expect([await mails(), (await pool.query('select from people where email = $1', [email])).rowCount]).toEqual([[], 0]);
  });
});

describe('unsubscribing', () => {
  test('withdraws given consent, and consent that still waits for its confirmation', async () => {
    const other = `other-${email}`;
    await ticked();
    await ticked(other);
    const [token, open] = [await asked(), await asked(other)];
    await consents().confirm(token);
    await unsubscribe();
    await unsubscribe(other);
    expect([await person(), await person(other)]).toMatchObject([{ consent_given_at: null }, { consent_given_at: null }]);
    expect([await consents().confirm(token), await consents().confirm(open)]).toEqual([false, false]);
    expect(await history()).toContain('consent_withdrawn');
  });

  test('stays where a stranger types the address into a form, and ends where its reader answers', async () => {
    await ticked();
    await unsubscribe();
    clock.nowMs += 1_000;
    await ticked();
    const token = await asked();
    expect((await person()).unsubscribed_at).not.toBeNull();
    expect(await suppressedAmong(pool, [email])).toEqual(new Set([email]));
    expect(await consents().confirm(token)).toBe(true);
    expect(await person()).toMatchObject({ unsubscribed_at: null, consent_confirmed_at: now() });
    expect(await suppressedAmong(pool, [email])).toEqual(new Set());
  });

  test('and an answer that meet end as one of the two, never as both', async () => {
    for (let round = 0; round < 8; round++) {
      email = `meeting-${round}@example.com`;
      await ticked();
      const token = await asked();
      const [, isConfirmed] = await Promise.all([unsubscribe(), consents().confirm(token)]);
      const { unsubscribed_at, consent_confirmed_at } = await person();
      expect([unsubscribed_at === null, consent_confirmed_at === null]).not.toEqual([false, false]);
      // An answer that came first is withdrawn; one that came second found nothing to answer.
      expect([isConfirmed, unsubscribed_at === null]).not.toEqual([false, true]);
    }
  });

  test('of either of two people is that of both, consent or not', async () => {
    const kept = `kept-${email}`;
    await ticked();
    await consents().confirm(await asked());
    await upsertContact(pool, { email: kept, source: 'import', at: now() });
    await unsubscribe(kept);
    await pool.query(
      'select merge_people(a.person_id, b.person_id, $1, $2, null) from people a, people b where a.email = $3 and b.email = $4',
      [...[now(), 'system', email, kept]],
    );
    expect(await person(kept)).toMatchObject({ consent_given_at: null, unsubscribed_at: now() });
  });
});

test('an answer from an address that is not theirs any more says nothing of the new one', async () => {
  const userId = newId();
  await upsertContact(pool, { email, source: 'user', userId, at: now() });
  await ticked();
  const token = await asked();
  await upsertContact(pool, { email: `moved-${email}`, source: 'user', userId, at: now() });
  expect([await consents().standOf(token), await consents().confirm(token)]).toEqual([undefined, false]);
});

describe('consent that a team imports', () => {
  const vouch = () =>
    pool.query('select import_consents($1::jsonb, $2, null)', [
      JSON.stringify([{ email, given_at: '2026-01-01T00:00:00Z', at: now() }]),
      'user',
    ]);

  test('leaves them the mail that asks: their own answer is the stronger proof', async () => {
    await ticked();
    const givenAt = now();
    const token = await asked();
    clock.nowMs += 60_000;
    await vouch();
    expect(await person()).toMatchObject({ consent_source: 'import', consent_confirmed_at: now() });
    expect(await consents().standOf(token)).toBe('vouched_for');
    clock.nowMs += 60_000;
    expect([await consents().confirm(token), await consents().confirm(token)]).toEqual([true, true]);
    expect(await person()).toMatchObject({
      ...{ consent_source: 'registration', consent_event_slug: 'launch', consent_given_at: givenAt, consent_confirmed_at: now() },
    });
    expect(await history()).toEqual(['consent', 'consent', 'consent_confirmed']);
  });

  test('spares those the mail whom none has asked yet', async () => {
    await ticked();
    await vouch();
    expect(await mails()).toEqual([]);
  });
});

test('and the new one is asked instead', async () => {
  const userId = newId();
  const moved = `asked-${email}`;
  await upsertContact(pool, { email, source: 'user', userId, at: now() });
  await ticked();
  await asked();
  await upsertContact(pool, { email: moved, source: 'user', userId, at: now() });
  const token = await asked(moved);
  expect(await consents().confirm(token)).toBe(true);
  expect(await person(moved)).toMatchObject({ consent_confirmed_at: now() });
});

test('an open consent of one address is asked at the remaining address after a merge', async () => {
  const kept = `same-${email}`;
  await ticked();
  await consents().confirm(await asked());
  await upsertContact(pool, { email: kept, source: 'import', at: now() });
  await pool.query(
    'select merge_people(a.person_id, b.person_id, $1, $2, null) from people a, people b where a.email = $3 and b.email = $4',
    [...[now(), 'system', email, kept]],
  );
  expect(await person(kept)).toMatchObject({ consent_source: 'registration', consent_confirmed_at: null });
  await consents().confirm(await asked(kept));
  expect(await person(kept)).toMatchObject({ consent_confirmed_at: now() });
});

test.each([false, true])('people are found by their consent (once indexed: %s)', async (isIndexed) => {
  await pool.query('delete from people');
  for (const name of ['given', 'claimed', 'none']) await upsertContact(pool, { email: `${name}@example.com`, source: 'user', at: now() });
  for (const name of ['given', 'claimed']) await ticked(`${name}@example.com`);
  await consents().confirm(await asked('given@example.com'));
  if (isIndexed) await indexPeople(pool);
  const found = async (consent: 'given' | 'claimed' | 'none') =>
    (await findPeople(pool, { consent, event_slug: consent === 'none' ? undefined : 'launch' }, { limit: 9, offset: 0 })).rows.map(
      (one) => one.email,
    );
  expect(await found('given')).toEqual(['given@example.com']);
  expect(await found('claimed')).toEqual(['claimed@example.com']);
  expect(await found('none')).toEqual(['none@example.com', 'claimed@example.com']);
});
