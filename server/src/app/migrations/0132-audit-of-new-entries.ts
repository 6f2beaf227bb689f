/** How far the log's audit is with what is new, beside the pass over all of it. */
export const auditOfNewEntriesMigration = {
  name: '0132-audit-of-new-entries',
  up: 'alter table receipt_log_audit add column new_index bigint not null default 0;',
};
