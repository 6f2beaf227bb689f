/** The log takes in what the ledger's writer has sealed, with a key that is not in the database. The seal goes when the receipt has its place. */
export const sealedReceiptsMigration = {
  name: '0100-sealed-receipts',
  up: `
alter table receipts add column seal bytea;
create table unsealed_receipts (
  receipt_id uuid primary key,
  account_id uuid not null,
  receipt jsonb not null,
  found_at timestamptz not null
);
`,
};
