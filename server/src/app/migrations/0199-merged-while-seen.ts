const SIGHT_PERSON = `
create or replace function sight_person(sighting jsonb) returns void language plpgsql as $$
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
    loop
      select * into before from people where email = address or (other_emails <> '{}' and other_emails @> array[address]) for update;
      exit when found;
      -- Nobody, or somebody who became another person while their row was waited for: that one is in the next snapshot.
      exit when not exists (select from people where email = address or (other_emails <> '{}' and other_emails @> array[address]));
    end loop;
    if before.person_id is not null and before.email <> address and of_user is not null and of_user is distinct from before.user_id and before.user_id is not null then
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
`;

/** An address whose person is merged into another at that moment is of that other person, and of nobody new. */
export const mergedWhileSeenMigration = {
  name: '0199-merged-while-seen',
  up: SIGHT_PERSON,
};
