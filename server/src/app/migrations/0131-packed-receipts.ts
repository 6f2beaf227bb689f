/**
 * A receipt is stored as what its columns do not say, packed (`receipts/packed-receipt.ts`); as text only where it has no packed form. Who follows
 * the receipts of an account in the order of the log reads them by their places.
 */
export const packedReceiptsMigration = {
  name: '0131-packed-receipts',
  up: `
alter table receipts alter column payload drop not null, add column packed bytea;
drop index receipts_followed;
`,
};
