/** Which gateway runs what recurs, and when it is to run again. */
export const timersMigration = {
  name: '0093-timers',
  up: `
    create table timers (
      name text primary key,
      next_at timestamptz not null,
      -- The process that runs it, or ran it last.
      runner uuid not null,
      -- Renewed while it runs; after it, anybody may run it.
      leased_until timestamptz not null
    );
  `,
};
