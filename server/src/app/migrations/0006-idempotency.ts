/** First answers by `Idempotency-Key`, kept for a day. The answer is encrypted under the client's key, which is not stored. */
export const idempotencyMigration = {
  name: '0006-idempotency',
  up: `
    create table idempotency_keys (
      scope text not null,
      key_hash bytea not null,
      request_hash bytea not null,
      run_id uuid not null,
      state text not null check (state in ('running', 'done')),
      lease_expires_at timestamptz not null,
      answer bytea,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (scope, key_hash),
      check ((state = 'done') = (answer is not null))
    );
    create index idempotency_keys_run_id_idx on idempotency_keys (run_id) where state = 'running';
    create index idempotency_keys_expires_at_idx on idempotency_keys (expires_at);
  `,
};
