/** States of the receipts' log on chains. What is sent to a chain is here before it is sent. */
export const anchorsMigration = {
  name: '0038-anchors',
  up: `
alter table receipts add column anchor_wished boolean not null default false;
create index receipts_anchor_wished on receipts (log_index) where anchor_wished;
create table anchors (
  anchor_id uuid primary key,
  chain_id bigint not null,
  contract text not null,
  tree_size bigint not null,
  root bytea not null,
  previous_size bigint not null,
  state text not null check (state in ('logged', 'submitted', 'included', 'finalized', 'superseded')),
  publisher text not null,
  nonce bigint,
  gas_limit numeric,
  transaction_hash text,
  block_number bigint,
  block_time timestamptz,
  gas_used numeric,
  fee_wei numeric,
  fee_nano_usd numeric,
  created_at timestamptz not null,
  submitted_at timestamptz,
  included_at timestamptz,
  finalized_at timestamptz,
  unique (chain_id, contract, tree_size),
  unique (chain_id, publisher, nonce)
);
create index anchors_newest on anchors (created_at desc, anchor_id desc);
create index anchors_unfinished on anchors (chain_id, contract, tree_size) where state in ('logged', 'submitted', 'included');
create table anchor_transactions (
  transaction_hash text primary key,
  anchor_id uuid not null references anchors,
  nonce bigint not null,
  raw text not null,
  max_fee_per_gas numeric not null,
  max_priority_fee_per_gas numeric not null,
  recorded_at timestamptz not null
);
create index anchor_transactions_of on anchor_transactions (anchor_id, recorded_at);
`,
};
