/** What clients have asked of the team, and what was done about it. */
export const clientRequestsMigration = {
  name: '0048-client-requests',
  up: `
create table client_requests (
  request_id uuid primary key,
  type text not null,
  status text not null check (status in ('new', 'in_progress', 'waiting', 'done', 'declined')),
  name text not null,
  email text not null,
  company text,
  client_type text,
  message text not null,
  owner uuid references users,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz
);
create index client_requests_newest on client_requests (created_at desc, request_id);
create index client_requests_email on client_requests (lower(email));

create table client_request_entries (
  entry_id uuid primary key,
  request_id uuid not null references client_requests on delete cascade,
  actor_kind text not null,
  actor_id text,
  changes jsonb not null,
  note text,
  created_at timestamptz not null
);
create index client_request_entries_request on client_request_entries (request_id, created_at desc);
`,
};
