/** Responses and chat completions that are kept because the caller asked for it, and conversations. */
export const responsesMigration = {
  name: '0023-responses',
  up: `
    create table stored_responses (
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      -- Who asked: background responses run in the name of their key. Null: a session.
      key_id uuid references api_keys (id),
      previous_response_id text collate "C",
      conversation_id text collate "C",
      status text not null check (status in ('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled')),
      -- Of type json, not jsonb: what models write may hold what jsonb cannot (U+0000), and nothing looks inside.
      input json not null,
      response json not null,
      -- What a background response still has to ask; null once it is through.
      request json,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index stored_responses_owner_idx on stored_responses (account_id, livemode, id);
    create index stored_responses_expires_at_idx on stored_responses (expires_at);
    create index stored_responses_waiting_idx on stored_responses (created_at) where request is not null;

    create table conversations (
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      metadata json not null,
      created_at timestamptz not null
    );
    create index conversations_owner_idx on conversations (account_id, livemode, id);

    create table conversation_items (
      conversation_id text collate "C" not null references conversations (id) on delete cascade,
      id text collate "C" not null,
      position bigint generated always as identity,
      item json not null,
      primary key (conversation_id, id)
    );
    create index conversation_items_order_idx on conversation_items (conversation_id, position);

    create table stored_chat_completions (
      id text collate "C" primary key,
      account_id uuid not null references accounts (id),
      livemode boolean not null,
      model text not null,
      metadata jsonb not null,
      completion json not null,
      messages json not null,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index stored_chat_completions_owner_idx on stored_chat_completions (account_id, livemode, created_at, id);
    create index stored_chat_completions_expires_at_idx on stored_chat_completions (expires_at);
  `,
};
