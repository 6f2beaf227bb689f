/** Holds of calls that nobody was asked for, whose gateway ended while Redis could not be told: others free them in its place. */
export const unfreedHoldsMigration = {
  name: '0275-unfreed-holds',
  up: `
create table unfreed_holds (
  hold_id text primary key,
  -- The process whose hold it was: another may have taken one of that name since.
  owner text not null,
  ended_at timestamptz not null default now()
);
`,
};
