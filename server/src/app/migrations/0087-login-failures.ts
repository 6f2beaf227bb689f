/** Failed logins of the last day. Whose they are is looked up by a job, which puts them into the audit log and tells the owners. */
export const loginFailuresMigration = {
  name: '0087-login-failures',
  up: `
    create table login_failures (
      id uuid primary key,
      -- Without a reference: checking one would take longer where there is a user.
      user_id uuid,
      kind text not null check (kind in ('password', 'second_factor')),
      ip text,
      user_agent text,
      request_id text not null,
      failed_at timestamptz not null,
      recorded boolean not null default false,
      told_at timestamptz
    );
    create index on login_failures (id) where not recorded;
    create index on login_failures (user_id, failed_at);
  `,
};
