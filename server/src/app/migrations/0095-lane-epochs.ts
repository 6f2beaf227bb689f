/** Under which epoch the lanes in Redis are, and which gateways run on them. */
export const laneEpochsMigration = {
  name: '0095-lane-epochs',
  up: `
    create table lane_epoch (
      -- One row.
      is_one boolean primary key default true check (is_one),
      epoch text not null,
      state text not null check (state in ('recovering', 'declaring', 'open')),
      -- The last one that was open and those that never were since, newest first.
      older text[] not null,
      changed_at timestamptz not null default now()
    );
    create table gateway_sessions (
      gateway uuid primary key,
      -- Each session of a gateway has a higher one: what an older session says is not heard.
      token bigint not null default 1,
      seen_at timestamptz not null,
      -- The epochs for which its journal is in the ledger, and its holds are on the lanes.
      drained text,
      declared text
    );
  `,
};
