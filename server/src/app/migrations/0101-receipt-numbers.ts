/** Receipts of an account, mode and month are numbered without a gap, so that one which is left out of an export is seen. */
export const receiptNumbersMigration = {
  name: '0101-receipt-numbers',
  up: `
create table receipt_numbers (
  account_id uuid not null,
  livemode boolean not null,
  month text not null,
  last integer not null,
  primary key (account_id, livemode, month)
);
alter table receipts add column account_sequence integer;
`,
};
