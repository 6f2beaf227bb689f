/**
 * Invoices are entries of the log, as receipts are. What the log takes in beside receipts is a document: its text, and its seal until it has
 * its place. How far a month's receipts are on invoices stands beside their last number.
 */
export const signedInvoicesMigration = {
  name: '0103-signed-invoices',
  up: `
create table log_documents (
  document_id uuid primary key,
  kind text not null check (kind in ('invoice')),
  payload text not null,
  digest bytea not null,
  seal bytea,
  log_index bigint,
  -- Somebody else than the gateway has written it: the log does not take it in.
  set_aside_at timestamptz
);
create unique index log_documents_log_index on log_documents (log_index) where log_index is not null;
create index log_documents_unlogged on log_documents (document_id) where log_index is null and set_aside_at is null;
create table signed_invoices (
  invoice_id uuid primary key references log_documents,
  account_id uuid not null,
  livemode boolean not null,
  month text not null,
  sequence integer not null,
  unique (account_id, livemode, month),
  unique (account_id, livemode, sequence)
);
alter table receipt_numbers add column invoiced integer not null default 0;
create index receipt_numbers_month on receipt_numbers (month);
`,
};
