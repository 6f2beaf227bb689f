/** What receipts are listed and exported by. All of it is said in the payload, which is text and stays as it was signed. */
export const receiptListMigration = {
  name: '0035-receipt-list',
  up: `
alter table receipts
  add column livemode boolean,
  add column kind text,
  add column model text,
  add column run_id text,
  -- Of the request, as invoices count it: a refund is in the month of what it gives back.
  add column started_at timestamptz;
update receipts set (livemode, kind, model, run_id, started_at) = (
  select (said ->> 'livemode')::boolean, said ->> 'kind', said ->> 'model_served', said ->> 'run_id', (said ->> 'started_at')::timestamptz
    from (select payload::jsonb as said) as parsed);
create index receipts_listed on receipts (account_id, livemode, started_at, receipt_id);
drop index receipts_account;
`,
};
