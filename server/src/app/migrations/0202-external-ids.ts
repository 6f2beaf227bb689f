/** Ids by which the programs of an account find what they made before. */
export const externalIdsMigration = {
  name: '0202-external-ids',
  up: `
alter table api_keys add column external_id text collate "C";
create unique index api_keys_by_external_id on api_keys (account_id, external_id) where revoked_at is null;
alter table users add column external_id text collate "C";
create unique index users_by_external_id on users (account_id, external_id) where closed_at is null;
alter table member_invitations add column external_id text collate "C";
create unique index member_invitations_by_external_id on member_invitations (account_id, external_id);
alter table limits add column external_id text collate "C";
create unique index limits_by_external_id on limits (account_id, external_id);
`,
};
