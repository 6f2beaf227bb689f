/** What narrows a key (models, endpoints, rates), its owner's notes, and the public key that its requests are signed for. */
export const keysCompleteMigration = {
  name: '0010-keys-complete',
  up: `
    alter table api_keys
      add column allowed_models text[],
      add column allowed_endpoints text[],
      add column requests_per_minute integer check (requests_per_minute > 0),
      add column tokens_per_minute integer check (tokens_per_minute > 0),
      add column concurrency integer check (concurrency > 0),
      add column metadata jsonb not null default '{}',
      add column signing_public_key text,
      add column require_signature boolean not null default false,
      add constraint api_keys_signature_needs_key check (signing_public_key is not null or not require_signature);
  `,
};
