/** Responses that run in the background, their events, and where an item can be found by its id. */
export const backgroundResponsesMigration = {
  name: '0026-background-responses',
  up: `
    alter table stored_responses
      -- How often it was begun: what an older run still writes is not taken.
      add column run integer not null default 0,
      -- Until when a worker has it to itself.
      add column lease_until timestamptz,
      -- What came of it, from the moment its result is there until that is settled.
      add column outcome json;

    -- Providers give ids, and what one account was given another may be given too.
    alter table stored_chat_completions drop constraint stored_chat_completions_pkey, add primary key (account_id, livemode, id);

    create table stored_response_items (
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      item_id text collate "C" not null,
      response_id text collate "C" not null references stored_responses (id) on delete cascade,
      primary key (account_id, livemode, item_id, response_id)
    );
    create index stored_response_items_response_idx on stored_response_items (response_id);

    create table stored_response_events (
      response_id text collate "C" not null references stored_responses (id) on delete cascade,
      sequence integer not null,
      run integer not null,
      event json not null,
      primary key (response_id, sequence)
    );
  `,
};
