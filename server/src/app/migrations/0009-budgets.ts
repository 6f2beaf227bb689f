/** What surrounds the monthly cap of a key: when to tell its owner, who changed it, what was told. The cap itself is the key's. */
export const budgetsMigration = {
  name: '0009-budgets',
  up: `
    -- Percent of the cap, ascending.
    alter table api_keys add column alert_thresholds smallint[] not null default '{50,80,100}';

    create table key_budget_changes (
      id uuid primary key,
      key_id uuid not null references api_keys (id),
      changed_at timestamptz not null,
      actor_kind text not null check (actor_kind in ('user', 'key')),
      actor_id uuid not null,
      previous_cap_nano_usd bigint,
      new_cap_nano_usd bigint,
      previous_alert_thresholds jsonb not null,
      new_alert_thresholds jsonb not null
    );
    create index key_budget_changes_key_id_idx on key_budget_changes (key_id, changed_at desc, id desc);

    create table key_budget_alerts (
      id uuid primary key,
      key_id uuid not null references api_keys (id),
      period text not null,
      threshold smallint not null check (threshold between 1 and 100),
      cause text not null check (cause in ('spend', 'cap_change', 'refusal')),
      spent_nano_usd numeric(30, 0) not null,
      cap_nano_usd bigint not null,
      created_at timestamptz not null,
      -- What makes an alert fire once, whoever finds first that it is due.
      unique (key_id, period, threshold)
    );
    create index key_budget_alerts_key_id_idx on key_budget_alerts (key_id, created_at desc, id desc);

    -- The highest cap under which a request of the key did not fit in the period.
    create table key_budget_refusals (
      key_id uuid not null references api_keys (id),
      period text not null,
      cap_nano_usd bigint not null,
      refused_at timestamptz not null,
      primary key (key_id, period)
    );
  `,
};
