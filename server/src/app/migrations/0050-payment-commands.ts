/** What is ordered of the payment provider, written down before it is asked; and the moments for which upgrades were previewed. */
export const paymentCommandsMigration = {
  name: '0050-payment-commands',
  up: `
create table payment_commands (
  -- The provider's idempotency key follows from it: carried out again, it is the same command.
  command_id uuid primary key,
  kind text not null check (kind in ('refund', 'upgrade')),
  account_id uuid not null references accounts,
  -- What it is about: a payment's id, or a plan.
  subject text not null,
  details jsonb not null,
  -- Of the caller, their Idempotency-Key and what they asked for.
  request_hash bytea unique,
  state text not null check (state in ('begun', 'done', 'refused')),
  refusal text,
  begun_at timestamptz not null,
  ended_at timestamptz
);
create unique index payment_commands_refunding on payment_commands (subject) where kind = 'refund' and state = 'begun';

create table upgrade_previews (
  account_id uuid not null references accounts,
  plan_id text not null,
  prorated_at timestamptz not null,
  -- The plan that it was reckoned from.
  change_version int not null,
  created_at timestamptz not null,
  primary key (account_id, plan_id, prorated_at)
);
`,
};
