/** Whether the receipts of a batch are to be anchored on chain soon. */
export const anchoredBatchesMigration = {
  name: '0054-anchored-batches',
  up: 'alter table batches add column anchor_wished boolean not null default false',
};
