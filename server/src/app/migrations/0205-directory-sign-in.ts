/** Sign-in with the company's directory. */
export const directorySignInMigration = {
  name: '0205-directory-sign-in',
  up: `
-- Members but owners need the directory to log in.
alter table accounts add column password_login boolean not null default true;

alter table users
  -- Issuer and subject at the directory.
  add column directory_subject text collate "C";
create unique index users_by_directory_subject on users (account_id, directory_subject) where closed_at is null;

-- The directory's name for the session there, by which it ends this one.
alter table sessions add column directory_session text collate "C";
create index sessions_by_directory_session on sessions (directory_session) where directory_session is not null and revoked_at is null;

-- Sign-ins under way: the browser is at the directory, or its program has not taken the session yet.
create table directory_sign_ins (
  id uuid primary key,
  state_hash bytea not null unique,
  nonce text not null,
  code_verifier text not null,
  return_to text not null,
  return_state text,
  -- Of the program that began, which alone takes the session.
  code_challenge text not null,
  code_hash bytea unique,
  user_id uuid references users,
  directory_session text,
  expires_at timestamptz not null
);
`,
};
