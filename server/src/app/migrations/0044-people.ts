import { foldForSearch } from '../../community/people/index.ts';
import type { RunSql } from '../migrate.ts';

const PAGE = 1_000;

/**
 * Everybody the service knows by an e-mail address, one row for an address. Who was erased, has unsubscribed or whose mail came back is
 * kept as the keyed hash of the address alone, so that it outlives the row.
 */
const SCHEMA = `
create table people_salt (is_only boolean primary key default true check (is_only), salt text not null);
insert into people_salt (salt) values (gen_random_uuid()::text || gen_random_uuid()::text);

create function address_hash(address text) returns bytea language sql stable as
  $$ select sha256(convert_to((select salt from people_salt) || address, 'UTF8')) $$;

create table suppressed_addresses (
  address_hash bytea primary key,
  reason text not null check (reason in ('unsubscribed', 'bounced', 'erased')),
  at timestamptz not null
);

create table people (
  person_id uuid primary key,
  -- Dense, in the order in which people became known: their place in people_chunks.
  n bigint not null unique generated always as identity,
  email text not null unique,
  name text,
  company text,
  -- Without case and accents.
  folded_name text not null default '',
  folded_company text not null default '',
  search_text text not null generated always as (email || ' ' || folded_name || ' ' || folded_company) stored,
  status text not null default 'new' check (status in ('new', 'contacted', 'qualified', 'customer', 'lost')),
  sources text[] not null,
  event_slugs text[] not null default '{}',
  tags text[] not null default '{}',
  owner uuid,
  client_type text,
  plan_tier text,
  user_id uuid unique,
  -- People who turned out to be this one, and their addresses.
  merged_ids uuid[] not null default '{}',
  other_emails text[] not null default '{}',
  unsubscribed_at timestamptz,
  bounced_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index people_merged_ids on people using gin (merged_ids) where merged_ids <> '{}';
create index people_other_emails on people using gin (other_emails) where other_emails <> '{}';

create table person_history (
  entry_id uuid primary key default gen_random_uuid(),
  person_id uuid not null references people on delete cascade,
  action text not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'internal', 'system')),
  actor_id text,
  detail jsonb not null default '{}',
  at timestamptz not null
);
create index person_history_person on person_history (person_id, at desc);

-- Which of 2048 neighbouring people have a term, as bits: see people/README.md.
create table people_chunks (
  term text collate "C" not null,
  chunk bigint not null,
  bits bit(2048) not null,
  primary key (term, chunk)
);
-- People who changed since their chunk was written. Only ever appended to by those who change them, so nobody waits for anybody.
create table people_unindexed (id bigint primary key generated always as identity, n bigint not null);
create function note_unindexed_person() returns trigger language plpgsql as $$
  begin
    insert into people_unindexed (n) values (case tg_op when 'DELETE' then old.n else new.n end);
    return null;
  end
$$;
create trigger people_are_unindexed after insert or update or delete on people for each row execute function note_unindexed_person();

create function united(a text[], b text[]) returns text[] language sql immutable as
  $$ select coalesce(array_agg(one order by one), '{}') from (select distinct unnest(a || b) as one) both_of_them where one is not null $$;

-- Makes one person of two. What the surviving one knows wins; that either unsubscribed or bounced stays.
create function merge_people(gone_id uuid, kept_id uuid, merged_at timestamptz, by_kind text, by_id text) returns void language plpgsql as $$
  declare gone people%rowtype;
  begin
    -- In the order of their ids, so that two merges of the same two wait for each other.
    perform from people where person_id in (gone_id, kept_id) order by person_id for update;
    select * into strict gone from people where person_id = gone_id;
    update person_history set person_id = kept_id where person_id = gone_id;
    delete from people where person_id = gone_id;
    update people set
      name = coalesce(name, gone.name), folded_name = case when name is null then gone.folded_name else folded_name end,
      company = coalesce(company, gone.company), folded_company = case when company is null then gone.folded_company else folded_company end,
      status = case when status = 'new' then gone.status else status end,
      sources = united(sources, gone.sources), event_slugs = united(event_slugs, gone.event_slugs), tags = united(tags, gone.tags),
      owner = coalesce(owner, gone.owner), client_type = coalesce(client_type, gone.client_type),
      plan_tier = coalesce(plan_tier, gone.plan_tier), user_id = coalesce(user_id, gone.user_id),
      merged_ids = merged_ids || gone.merged_ids || gone.person_id,
      other_emails = united(other_emails, gone.other_emails || gone.email),
      unsubscribed_at = least(unsubscribed_at, gone.unsubscribed_at), bounced_at = least(bounced_at, gone.bounced_at),
      created_at = least(created_at, gone.created_at), updated_at = merged_at
    where person_id = kept_id;
    insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
      values (kept_id, 'merge', by_kind, by_id, jsonb_build_object('person_id', gone_id, 'email', gone.email), merged_at);
  end
$$;

-- A user's address has changed: the person goes with it, unsubscribed if they were.
create function move_person(of_user uuid, address text, moved_at timestamptz) returns void language plpgsql as $$
  declare
    holder people%rowtype;
    there uuid;
  begin
    select * into holder from people where user_id = of_user and email <> address for update;
    if not found or address = any (holder.other_emails) then return; end if;
    select person_id into there from people where email = address;
    if found then
      perform merge_people(there, holder.person_id, moved_at, 'system', null);
    end if;
    update people set email = address, updated_at = moved_at,
      other_emails = array_remove(united(other_emails, array[holder.email]), address)
    where person_id = holder.person_id;
    insert into person_history (person_id, action, actor_kind, detail, at)
      values (holder.person_id, 'email_changed', 'system', jsonb_build_object('from', holder.email), moved_at);
  end
$$;

-- One sighting of a person: see PersonSighting. Whoever was erased is not seen again.
create function sight_person(sighting jsonb) returns void language plpgsql as $$
  declare
    address text := sighting ->> 'email';
    seen_at timestamptz := sighting ->> 'at';
    of_user uuid := sighting ->> 'user_id';
    slugs text[] := array_remove(array[sighting ->> 'event_slug'], null);
    suppressed suppressed_addresses%rowtype;
    before people%rowtype;
  begin
    select * into suppressed from suppressed_addresses where address_hash = address_hash(address);
    if suppressed.reason = 'erased' then return; end if;
    if of_user is not null then perform move_person(of_user, address, seen_at); end if;

    -- Tried before the insert: that one would use up a number even where there is somebody.
    select * into before from people where email = address or (other_emails <> '{}' and other_emails @> array[address]) for update;
    if found and before.email <> address and of_user is not null and of_user is distinct from before.user_id and before.user_id is not null then
      -- They gave the address up, and somebody else has it now.
      update people set other_emails = array_remove(other_emails, address) where person_id = before.person_id;
      before := null;
    end if;
    if before.person_id is null then
      insert into people (person_id, email, sources, unsubscribed_at, bounced_at, created_at, updated_at)
      values ((sighting ->> 'person_id')::uuid, address, '{}',
        case when suppressed.reason = 'unsubscribed' then suppressed.at end, case when suppressed.reason = 'bounced' then suppressed.at end,
        seen_at, seen_at)
      on conflict (email) do update set updated_at = excluded.updated_at
      returning * into before;
    end if;
    update people set
      name = coalesce(name, sighting ->> 'name'),
      folded_name = case when name is null then coalesce(sighting ->> 'folded_name', '') else folded_name end,
      company = coalesce(company, sighting ->> 'company'),
      folded_company = case when company is null then coalesce(sighting ->> 'folded_company', '') else folded_company end,
      sources = united(sources, array[sighting ->> 'source']),
      event_slugs = united(event_slugs, slugs),
      client_type = coalesce(sighting ->> 'client_type', client_type),
      plan_tier = coalesce(sighting ->> 'plan_tier', plan_tier),
      user_id = coalesce(of_user, user_id),
      updated_at = seen_at
    where person_id = before.person_id;
    if not before.sources @> array[sighting ->> 'source'] or not before.event_slugs @> slugs then
      insert into person_history (person_id, action, actor_kind, detail, at) values (before.person_id, 'seen', 'system',
        jsonb_strip_nulls(jsonb_build_object('source', sighting ->> 'source', 'event_slug', sighting ->> 'event_slug')), seen_at);
    end if;
  end
$$;

-- A user has closed their account. Whoever was known by it alone is known no longer; that they unsubscribed is kept by the hash.
create function forget_user(of_user uuid, closed_at timestamptz) returns void language plpgsql as $$
  begin
    delete from people where user_id = of_user and sources = '{user}';
    update people set user_id = null, plan_tier = null, sources = array_remove(sources, 'user'), updated_at = closed_at where user_id = of_user;
  end
$$;
`;

/** The people, and in them whoever has an account already. */
export const peopleMigration = {
  name: '0044-people',
  async up(run: RunSql): Promise<void> {
    await run(SCHEMA);
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      const users = await run(
        `select u.id, u.email, u.name, u.created_at, split_part(a.plan, '@', 1) as plan_tier from users u join accounts a on a.id = u.account_id
         where u.closed_at is null and u.id > $1 order by u.id limit ${PAGE}`,
        [after],
      );
      for (const { id, email, name, created_at, plan_tier } of users)
        await run('select sight_person($1::jsonb)', [
          JSON.stringify({
            ...{ person_id: id, user_id: id, email: String(email).toLowerCase(), name, at: created_at, plan_tier, source: 'user' },
            folded_name: foldForSearch(String(name ?? '')),
          }),
        ]);
      if (users.length < PAGE) return;
      after = String(users.at(-1)?.['id']);
    }
  },
};
