/** Answers that may be given again, for callers who ask for that: sealed with the key of the account, each until it expires. */
export const cachedAnswersMigration = {
  name: '0265-cached-answers',
  up: `
create table cached_answers (
  account_id uuid not null references accounts,
  -- The API key, or the user of a session.
  caller uuid not null,
  -- Of the request, keyed: it says nothing of a prompt to who reads the table.
  digest bytea not null,
  model text not null,
  provider text not null,
  content_type text not null,
  answer bytea not null,
  bytes integer not null,
  kept_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (account_id, caller, digest)
);
create index cached_answers_by_age on cached_answers (account_id, kept_at desc) include (bytes);
create index cached_answers_by_end on cached_answers (expires_at);
`,
};
