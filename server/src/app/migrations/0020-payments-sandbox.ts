/** What the built-in payment provider knows: it stands in for one outside, so nothing here refers to our own accounts. */
export const paymentsSandboxMigration = {
  name: '0020-payments-sandbox',
  up: `
    create table sandbox_payment_objects (
      seq bigint generated always as identity unique,
      id text primary key,
      kind text not null,
      customer_id text,
      data jsonb not null
    );
    create index sandbox_payment_objects_kind_idx on sandbox_payment_objects (kind, customer_id, seq);

    -- Written with what they tell of; told until they are taken.
    create table sandbox_payment_events (
      seq bigint generated always as identity primary key,
      id text not null unique,
      body text not null,
      created_at timestamptz not null,
      delivered_at timestamptz
    );
    create index sandbox_payment_events_undelivered_idx on sandbox_payment_events (seq) where delivered_at is null;

    create table sandbox_payment_requests (
      idempotency_key text primary key,
      fingerprint text not null,
      answer text not null,
      created_at timestamptz not null default now()
    );
  `,
};
