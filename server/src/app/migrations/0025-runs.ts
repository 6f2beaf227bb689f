/** What an agent run may do beside its ceiling in money: whose child it is, how often it may call, until when, and whether it was closed. */
export const runsMigration = {
  name: '0025-runs',
  up: `
    create table agent_run_bounds (
      account_id uuid not null,
      livemode boolean not null,
      run_id text collate "C" not null,
      -- The runs above it, the nearest first. Set by the first request of the run and never changed.
      ancestor_run_ids text[] not null,
      max_calls bigint,
      -- Calls of the run and its child runs; counted only where a bound is near, from the first request that named it.
      calls bigint not null,
      deadline_at timestamptz,
      closed_at timestamptz,
      begun_at timestamptz not null,
      primary key (account_id, livemode, run_id)
    );
    create index agent_run_bounds_begun_at_idx on agent_run_bounds (account_id, livemode, begun_at desc);
    create index agent_run_bounds_ancestors_idx on agent_run_bounds using gin (ancestor_run_ids);
    insert into agent_run_bounds
      select account_id, livemode, run_id, '{}', null, 0, null, null, first_request_at from agent_runs;

    -- The runs above the one that a request belongs to: their lanes were held and settled with it.
    alter table usage_records add column ancestor_run_ids text[];

    -- Counts one call on every run of a chain, or on none. In its own statements, so that it sees what others have counted meanwhile.
    create function count_run_call(account uuid, live boolean, chain text[])
      returns table (counted boolean, run_id text, calls bigint, max_calls bigint) language plpgsql as $$
    #variable_conflict use_column
    begin
      -- In one order, so that two chains wait for each other rather than deadlock.
      perform 1 from agent_run_bounds b where b.account_id = account and b.livemode = live and b.run_id = any(chain) order by b.run_id for update;
      counted := not exists (
        select 1 from agent_run_bounds b where b.account_id = account and b.livemode = live and b.run_id = any(chain) and b.calls >= b.max_calls
      );
      if counted then
        update agent_run_bounds b set calls = b.calls + 1 where b.account_id = account and b.livemode = live and b.run_id = any(chain);
      end if;
      return query select counted, b.run_id::text, b.calls, b.max_calls from agent_run_bounds b
        where b.account_id = account and b.livemode = live and b.run_id = any(chain);
    end $$;
  `,
};
