export const receiptsMigration = {
  name: '0005-receipts',
  up: `
create table receipts (
  receipt_id uuid primary key,
  account_id uuid not null,
  request_id text not null,
  payload text not null,
  digest bytea not null,
  kid text not null,
  signature bytea not null,
  issued_at timestamptz not null default now()
);
create index receipts_account on receipts (account_id, receipt_id);
create table signing_keys (
  kid text primary key,
  purpose text not null,
  x text not null,
  not_before timestamptz not null,
  not_after timestamptz
);
`,
};
