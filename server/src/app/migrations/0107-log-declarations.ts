/** Entries of the log that are no receipts: what a price, a key or a policy is, from before it is used. */
export const logDeclarationsMigration = {
  name: '0107-log-declarations',
  up: `
create table log_declarations (
  log_index bigint primary key,
  kind text not null check (kind in ('price', 'key', 'key_retired', 'policy')),
  -- Which price (model, line feed, version) or which key; empty for policies.
  subject text not null,
  digest bytea not null,
  declaration text not null
);
create index log_declarations_by_subject on log_declarations (kind, subject, log_index);
`,
};
