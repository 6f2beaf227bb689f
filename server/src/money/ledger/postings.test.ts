import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId, newRequestId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { usageEntries } from './postings.ts';
import { sampleRecord } from './sample-records.ts';
import type { SettledRecord } from './settlement-record.ts';

const ACCOUNT = newId();

const settled = (rest: Partial<SettledRecord>): SettledRecord => ({
  ...sampleRecord({ accountId: ACCOUNT, cost: '100' }),
  charged: 100n,
  debt: 0n,
  covered: {},
  ...rest,
});
const booked = (rest: Partial<SettledRecord>) =>
  Object.fromEntries(usageEntries(settled(rest)).map(({ account, amount }) => [account.replace(`:${ACCOUNT}`, ''), amount]));

describe('a settled request is booked', () => {
  test('from the balance, the quota, and debt for what exceeded the hold', () => {
    expect(booked({ charged: 70n, debt: 20n })).toEqual({ plan_quota: -30n, customer_balance: -50n, debt: -20n, revenue: 100n });
  });

  test('from the receivable, where an invoice pays', () => {
    expect(booked({ funding: 'invoice', charged: 70n, debt: 20n })).toEqual({
      plan_quota: -30n,
      receivable: -50n,
      invoice_debt: -20n,
      revenue: 100n,
    });
  });

  test('from the quota alone, where a plan goes no further, and debt for what exceeded the hold', () => {
    expect(booked({ funding: 'none', charged: 0n })).toEqual({ plan_quota: -100n, revenue: 100n });
    expect(booked({ funding: 'none', charged: 10n, debt: 10n })).toEqual({ plan_quota: -90n, debt: -10n, revenue: 100n });
  });

  test('in accounts of its own in test mode, where nobody pays', () => {
    expect(booked({ livemode: false, funding: 'test', charged: 0n })).toEqual({ test_funds: -100n, test_revenue: 100n });
  });

  test('without a side that nothing goes through', () => {
    expect(booked({ charged: 100n })).toEqual({ plan_quota: 0n, customer_balance: -100n, revenue: 100n });
    expect(booked({ cost: '0', charged: 0n })).toEqual({ plan_quota: 0n, revenue: 0n });
  });

  test('so that it sums to zero, and no account occurs twice, for every settlement', () => {
    const nano = fc.bigInt({ min: 0n, max: 10n ** 18n });
    const funding = fc.constantFrom('balance', 'invoice', 'none' as const);
    fc.assert(
      fc.property(nano, nano, nano, funding, fc.boolean(), (debt, charged, quota, payer, livemode) => {
        const cost = (debt + charged + quota).toString();
        const entries = usageEntries(settled({ cost, charged: debt + charged, debt, livemode, funding: livemode ? payer : 'test' }));
        expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
        expect(new Set(entries.map(({ account }) => account)).size).toBe(entries.length);
      }),
    );
  });
});

describe('the database refuses', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pool: Pool;

  beforeAll(async () => {
    database = await testDatabase();
    pool = openPool({ url: database.url, log: silentLog(), poolSize: 1 });
  });

  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  });

  async function posting(requestId = newRequestId()): Promise<string> {
    const id = newId();
    await pool.query(
      `insert into postings (posting_id, kind, request_id, attempt, livemode, day) values ($1, 'refund', $2, 1, true, '2026-11-21')`,
      [id, requestId],
    );
    return id;
  }
  const balanced = async () => {
    const id = await posting();
    await pool.query(`insert into ledger_entries values ($1, 'a', -5), ($1, 'revenue', 5)`, [id]);
    return id;
  };

  test('a posting that does not sum to zero, alone or among others', async () => {
    const [first, second] = [await posting(), await posting()];
    const insert = `insert into ledger_entries values ($1, 'a', -5), ($1, 'revenue', 5), ($2, 'a', -5), ($2, 'revenue', 4)`;
    await expect(pool.query(insert, [first, second])).rejects.toThrow('must sum to zero');
    await expect(pool.query(`insert into ledger_entries values ($1, 'a', 1)`, [first])).rejects.toThrow('must sum to zero');
  });

  test('a second posting of one cause', async () => {
    const requestId = newRequestId();
    await posting(requestId);
    await expect(posting(requestId)).rejects.toThrow('postings_request_id_attempt_kind_key');
  });

  test.each(['ledger_entries', 'postings'])('to change, delete or empty %s', async (table) => {
    const id = await balanced();
    await expect(pool.query(`update ${table} set posting_id = posting_id where posting_id = $1`, [id])).rejects.toThrow('append-only');
    await expect(pool.query(`delete from ${table} where posting_id = $1`, [id])).rejects.toThrow('append-only');
    await expect(pool.query(`truncate ${table} cascade`)).rejects.toThrow('append-only');
  });
});
