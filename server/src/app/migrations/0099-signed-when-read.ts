/** A receipt is signed when it is read: what binds the service is the state of the log that has its digest. */
export const signedWhenReadMigration = {
  name: '0099-signed-when-read',
  up: 'alter table receipts drop column kid, drop column signature;',
};
