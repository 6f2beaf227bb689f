/** Subscriptions, payments, what they credit, invoices, and what the payment provider told. */
export const plansMigration = {
  name: '0028-plans',
  up: `
-- Of money that no request moved; a request's postings count in the day on which it started.
alter table postings add column day date;

-- What a lane's credit is the sum of: money paid in, and taken back. Charges are not among it.
create table balance_credits (
  posting_id uuid primary key references postings,
  account_id uuid not null,
  amount_nano numeric(30, 0) not null,
  credited_at timestamptz not null default now()
);
create index balance_credits_account on balance_credits (account_id);
create trigger balance_credits_append_only before update or delete or truncate on balance_credits
  for each statement execute function ledger_is_append_only();

-- Whoever changes a plan: every instance that remembers keys of the account hears of it with the commit.
create function announce_plan() returns trigger language plpgsql as $$
begin
  perform pg_notify('tallygate_keys', 'account:' || new.id);
  return null;
end $$;
create trigger accounts_plan_changed after update of plan on accounts
  for each row when (old.plan is distinct from new.plan) execute function announce_plan();

create table subscriptions (
  account_id uuid primary key references accounts,
  customer_id text unique,
  subscription_id text,
  status text not null default 'none',
  -- As it was sold; null without a subscription.
  plan_id text,
  plan_version int,
  -- What an operator has given: the plan of an account without a subscription.
  granted_plan text not null default 'free',
  period_start timestamptz,
  period_end timestamptz,
  cancels_at_period_end boolean not null default false,
  grace_ends_at timestamptz,
  -- Grows with every change of plan.
  change_version int not null default 0
);

create table scheduled_downgrades (
  downgrade_id uuid primary key,
  account_id uuid not null references accounts,
  from_plan text not null,
  to_plan text not null,
  effective_at timestamptz not null,
  based_on int not null,
  state text not null check (state in ('scheduled', 'applied', 'dropped', 'canceled')),
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index scheduled_downgrades_one on scheduled_downgrades (account_id) where state = 'scheduled';

create table checkouts (
  checkout_id uuid primary key,
  account_id uuid not null references accounts,
  kind text not null check (kind in ('plan', 'balance')),
  session_id text unique,
  plan_id text,
  plan_version int,
  amount_nano bigint not null,
  status text not null check (status in ('open', 'completed', 'expired')),
  url text,
  expires_at timestamptz,
  created_at timestamptz not null
);
create index checkouts_account on checkouts (account_id) where status = 'open';

create table payments (
  payment_id uuid primary key,
  provider_id text not null unique,
  account_id uuid not null references accounts,
  kind text not null check (kind in ('balance', 'auto_topup', 'subscription')),
  status text not null,
  amount_nano bigint not null,
  refunded_nano bigint not null,
  -- Of a subscription's payment, the part that paid usage.
  usage_nano bigint not null default 0,
  -- What of it is in the books by now: received (less what went back), and how often it was booked.
  booked_nano bigint not null default 0,
  bookings smallint not null default 0,
  created_at timestamptz not null
);
create index payments_account on payments (account_id, created_at);

create table payment_disputes (
  dispute_id text primary key,
  provider_payment_id text not null,
  amount_nano bigint not null,
  -- Only ever rises: warning, open, won or lost.
  status text not null check (status in ('warning', 'open', 'won', 'lost'))
);
create index payment_disputes_payment on payment_disputes (provider_payment_id);

-- Written in the transaction of what the event brought about.
create table webhook_events (
  event_id text primary key,
  type text not null,
  happened_at timestamptz not null,
  applied_at timestamptz not null default now()
);

create table invoices (
  invoice_id uuid primary key,
  account_id uuid not null references accounts,
  kind text not null check (kind in ('usage', 'subscription')),
  provider_id text unique,
  number text,
  status text not null check (status in ('open', 'paid', 'void', 'uncollectible')),
  period text not null,
  lines jsonb not null,
  total_nano numeric(30, 0) not null,
  from_balance_nano numeric(30, 0) not null default 0,
  -- Owed by invoice in exact money (adjustments of earlier months included), and in whole cents as billed.
  owed_nano numeric(30, 0) not null default 0,
  due_nano numeric(30, 0) not null,
  carried_nano numeric(30, 0) not null default 0,
  -- The line at the provider that bills it.
  provider_item_id text,
  hosted_url text,
  issued_at timestamptz not null
);
create index invoices_account on invoices (account_id, issued_at desc);
create unique index invoices_usage on invoices (account_id, period) where kind = 'usage';

create table auto_topups (
  account_id uuid primary key references accounts,
  enabled boolean not null,
  threshold_nano bigint not null,
  amount_nano bigint not null,
  -- The charge under way: its key at the provider, so that a repeat is the same charge.
  attempt_id uuid,
  attempted_at timestamptz,
  provider_id text,
  decline text
);

create table spend_alerts (
  account_id uuid primary key references accounts,
  thresholds_nano bigint[] not null
);
create table spend_alerts_reached (
  account_id uuid not null references accounts,
  period text not null,
  threshold_nano bigint not null,
  charged_nano numeric(30, 0) not null,
  created_at timestamptz not null,
  primary key (account_id, period, threshold_nano)
);
`,
};
