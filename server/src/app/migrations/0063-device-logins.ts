/** Logins of programs that somebody approves in a browser. */
export const deviceLoginsMigration = {
  name: '0063-device-logins',
  up: `
create table device_logins (
  id uuid primary key,
  device_code_hash bytea not null unique,
  user_code_hash bytea not null unique,
  client_name text not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  interval_seconds integer not null,
  polled_at timestamptz,
  user_id uuid references users (id) on delete cascade,
  decision text check (decision in ('approved', 'denied')),
  decided_at timestamptz,
  check ((decision is null) = (user_id is null) and (decision is null) = (decided_at is null))
);
create index device_logins_user_id_idx on device_logins (user_id);
create index device_logins_expires_at_idx on device_logins (expires_at);

alter table sessions add column is_by_device boolean not null default false;
`,
};
