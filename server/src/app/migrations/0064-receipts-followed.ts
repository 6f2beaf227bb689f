/** Who follows an account's receipts asks every second for what is new in the log. */
export const receiptsFollowedMigration = {
  name: '0064-receipts-followed',
  up: `
create index receipts_followed on receipts (account_id, livemode, log_index) where log_index is not null;
`,
};
