/** The keys that what is kept of prompts and answers is encrypted with, and whether an account wants any of it kept. */
export const contentKeysMigration = {
  name: '0088-content-keys',
  up: `
    create table content_keys (
      account_id uuid primary key references accounts (id),
      -- Sealed with the master key.
      sealed_key text not null
    );
    alter table accounts add column stores_content boolean not null default true;
  `,
};
