import { type VerifyOptions, verifyReceiptText } from '@tallygate/receipts';
import pg from 'pg';
import { vi } from 'vitest';
import type { Gateway } from './gateway.ts';

/** The gateway's database from the outside, as an auditor reads it. */
export interface LedgerAudit extends AsyncDisposable {
  setPlan(accountId: string, plan: string): Promise<void>;
  /** Makes a user a member of the account of another, with a role in it. */
  moveUser(email: string, into: { readonly to: string; readonly role: string }): Promise<void>;
  /** Gives a user a role in the service. */
  setRole(email: string, role: string): Promise<void>;
  /** What is planned is forgotten: at the next start every job that repeats runs at once. */
  forgetTimers(): Promise<void>;
  /** How often each of these requests was recorded, posted and receipted. */
  entriesOf(requestIds: readonly string[]): Promise<ReadonlyMap<string, AuditedRequest>>;
  /** What an API key was charged for, oldest first. */
  recordsOf(keyId: string): Promise<ChargedRecord[]>;
  /** Postings whose entries do not sum to zero, and calls of requests that are booked other than once each. */
  faults(): Promise<string[]>;
}

export interface AuditedRequest {
  readonly records: number;
  /** Of those records: attempts that ended with their gateway. Only background work is asked again after one. */
  readonly abandoned: number;
  /** Of those records: without usage from the provider. They are charged by our count, or at their hold. */
  readonly estimated: number;
  readonly postings: number;
  readonly receipts: number;
  readonly receiptId: string;
  /** Nano-USD. */
  readonly cost: bigint;
}

export interface ChargedRecord {
  readonly requestId: string;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Nano-USD. */
  readonly held: bigint;
  readonly cost: bigint;
}

export async function openLedgerAudit(gateway: Pick<Gateway, 'databaseUrl'>): Promise<LedgerAudit> {
  const client = new pg.Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  return {
    setPlan: async (accountId, plan) => {
      await client.query('update accounts set plan = $2, given_plan = $2 where id = $1', [accountId, plan]);
    },
    moveUser: async (email, { to, role }) => {
      const move = 'update users set account_role = $3, account_id = (select account_id from users where email = $2) where email = $1';
      await client.query(move, [email, to, role]);
    },
    setRole: async (email, role) => {
      await client.query('update users set role = $2 where email = $1', [email, role]);
    },
    forgetTimers: async () => {
      await client.query('delete from timers');
    },
    entriesOf: async (requestIds) => {
      const { rows } = await client.query<
        Record<'request_id' | 'records' | 'abandoned' | 'estimated' | 'postings' | 'receipts' | 'receipt_id' | 'cost', string>
      >(ENTRIES, [requestIds]);
      return new Map(
        rows.map((row) => [
          row.request_id,
          {
            records: Number(row.records),
            abandoned: Number(row.abandoned),
            estimated: Number(row.estimated),
            postings: Number(row.postings),
            receipts: Number(row.receipts),
            receiptId: row.receipt_id,
            cost: BigInt(row.cost),
          },
        ]),
      );
    },
    recordsOf: async (keyId) => {
      const { rows } = await client.query<
        Record<'request_id' | 'outcome' | 'input_tokens' | 'output_tokens' | 'held_nano' | 'cost_nano', string> & { estimated: boolean }
      >('select * from usage_records where key_id = $1 order by started_at', [keyId]);
      return rows.map((row) => ({
        requestId: row.request_id,
        outcome: row.outcome,
        estimated: row.estimated,
        inputTokens: Number(row.input_tokens),
        outputTokens: Number(row.output_tokens),
        held: BigInt(row.held_nano),
        cost: BigInt(row.cost_nano),
      }));
    },
    faults: async () => {
      const { rows } = await client.query<{ fault: string }>(FAULTS);
      return rows.map(({ fault }) => fault);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

const ENTRIES = `
  with asked as (select distinct unnest($1::text[]) as request_id),
    recorded as (select request_id, count(*) as records, count(*) filter (where outcome = 'abandoned') as abandoned, count(*) filter (where estimated) as estimated, max(receipt_id::text) as receipt_id, sum(cost_nano) as cost
                   from usage_records join asked using (request_id) group by request_id),
    posted as (select request_id, count(*) as postings
                 from (select u.request_id from usage_records u join postings using (posting_id) union all select request_id from postings) booked
                 join asked using (request_id) group by request_id),
    receipted as (select request_id, count(*) as receipts from receipts join asked using (request_id) group by request_id)
  select request_id, records::text, abandoned::text, estimated::text, receipt_id, cost::text, coalesce(postings, 0)::text as postings, coalesce(receipts, 0)::text as receipts
    from recorded left join posted using (request_id) left join receipted using (request_id)`;

const FAULTS = `
  select 'posting ' || posting_id || ' sums to ' || sum(amount_nano) as fault from ledger_entries group by posting_id having sum(amount_nano) <> 0
  union all
  select 'posting ' || posting_id || ' has no entries' from postings where not exists (select 1 from ledger_entries where ledger_entries.posting_id = postings.posting_id)
  union all
  select 'posting ' || posting_id || ' is not what its usage records cost' from postings
    join (select posting_id, sum(amount_nano) as booked from ledger_entries where account in ('revenue', 'test_revenue') group by 1) entries using (posting_id)
    left join (select posting_id, sum(cost_nano + case when livemode then waived_nano else 0 end) as cost from usage_records group by 1) records using (posting_id)
    where kind = 'usage' and booked is distinct from cost
  union all
  select request_id || ' has ' || count(*) || ' usage records of attempt ' || attempt from usage_records group by request_id, attempt having count(*) <> 1
  union all
  select request_id || ' has ' || count(*) || ' receipts' from receipts group by request_id
    having count(*) <> (select count(*) from usage_records where usage_records.request_id = receipts.request_id)
      + (select count(*) from refunds where refunds.request_id = receipts.request_id and posted_at is not null)
  union all
  select coalesce(records.request_id, postings.request_id, receipts.request_id) || ' is not in all books'
    from usage_records records full join (
      select u.request_id from usage_records u join postings using (posting_id) union select request_id from postings where kind = 'refund'
    ) postings using (request_id) full join receipts using (request_id)
    where records.request_id is null or postings.request_id is null or receipts.request_id is null
  union all
  select 'the rollups of ' || account_id || ' differ from its usage records' from usage_daily full join
    (select account_id, sum(case when refunds.posted_at is null then cost_nano else 0 end) as cost
      from usage_records left join refunds using (account_id, request_id, attempt) group by account_id) records using (account_id)
    group by account_id, records.cost having sum(cost_nano) is distinct from records.cost`;

const BUSY_FOR = { timeout: 20_000, interval: 500 };

/** On a busy machine the store may not answer in time: then it says to ask again. */
const notBusy = (ask: () => Promise<Response>): Promise<Response> =>
  vi.waitFor(async () => {
    const answer = await ask();
    if (answer.status === 503) throw new Error(await answer.text());
    return answer;
  }, BUSY_FOR);

/** Fetches a receipt and the public keys as anybody can, and verifies the one with the others. @returns its payload. @throws with the reason */
export async function verifiedReceipt(gateway: Gateway, receiptId: string, options: VerifyOptions = {}) {
  const [receipt, keys] = await Promise.all([
    notBusy(() => fetch(`${gateway.url}/v1/receipts/${receiptId}`)),
    notBusy(() => fetch(`${gateway.url}/.well-known/vaas-keys.json`)),
  ]);
  const text = await receipt.text();
  if (receipt.status !== 200) throw new Error(`The receipt ${receiptId} answered ${receipt.status}: ${text}`);
  const verification = verifyReceiptText(text, await keys.json(), options);
  if (!verification.valid) throw new Error(`The receipt ${receiptId} does not verify: ${verification.code}: ${verification.reason}`);
  return verification.payload;
}
