/** Outgoing webhooks: where events go, the events, and what became of each at each. */
export const webhooksMigration = {
  name: '0190-webhooks',
  up: `
create table webhook_endpoints (
  id uuid primary key,
  -- Null: of the gateway.
  account_id uuid references accounts,
  -- URL and secrets, encrypted.
  sealed text not null,
  description text not null,
  format text not null check (format in ('standard', 'slack', 'teams')),
  -- Null: all.
  event_types text[],
  -- When the first of its pending deliveries is due; null without any.
  due_at timestamptz,
  -- Until when a gateway that delivers to it has it for itself.
  busy_until timestamptz not null,
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('by_user', 'failed_for_three_days', 'gone')),
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoints_by_account on webhook_endpoints (account_id, id);
create index webhook_endpoints_due on webhook_endpoints (due_at) where due_at is not null and disabled_at is null;

create table webhook_messages (
  id uuid primary key,
  -- Null: it concerns the whole gateway.
  account_id uuid,
  -- Only for this endpoint; null: for all that want its type.
  endpoint_id uuid,
  type text not null,
  data jsonb not null,
  -- Of two events with one key only the first is there.
  dedupe_key text collate "C" unique,
  created_at timestamptz not null default now(),
  -- Its place in the order of all, given after the commit of its cause; null until then.
  sequence bigint unique
);
create index webhook_messages_unplaced on webhook_messages (id) where sequence is null;
create index webhook_messages_by_account on webhook_messages (account_id, sequence);
create index webhook_messages_by_time on webhook_messages (created_at);
create sequence webhook_message_sequence;

create table webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  message_id uuid not null references webhook_messages on delete cascade,
  status text not null check (status in ('pending', 'delivered', 'failed')),
  -- Failed attempts since it was queued, which is when it was made or sent again.
  failures int not null,
  queued_at timestamptz not null,
  due_at timestamptz not null,
  -- The last ones: at, status_code, error, duration_ms.
  attempts jsonb not null,
  created_at timestamptz not null,
  unique (endpoint_id, message_id)
);
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, due_at) where status = 'pending';
create index webhook_deliveries_by_message on webhook_deliveries (message_id);
`,
};
