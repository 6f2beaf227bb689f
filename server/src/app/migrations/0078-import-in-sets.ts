/** An import in sets: people who are new and people who are known are each one statement, and whatever is neither goes by itself. */
export const importInSetsMigration = {
  name: '0078-import-in-sets',
  up: `
-- What import_person does for each of them, in the order of their addresses; how many came to what.
create function import_people(sightings jsonb, by_kind text, by_id text) returns table (outcome text, people bigint) language plpgsql as $$
  #variable_conflict use_column
  declare
    created text[];
    updated text[];
    outcomes text[] := '{}';
    sighting jsonb;
  begin
    with wanted as (
      select distinct on (w.email) w.* from jsonb_to_recordset(sightings) as w (person_id uuid, email text, source text, at timestamptz,
        name text, folded_name text, company text, folded_company text, client_type text, event_slug text, tags text[])
      order by w.email
    ), made as (
      insert into people as p (person_id, email, name, folded_name, company, folded_company, client_type, sources, event_slugs, tags,
        unsubscribed_at, bounced_at, created_at, updated_at)
      select w.person_id, w.email, w.name, w.folded_name, w.company, w.folded_company, w.client_type, array[w.source],
        array_remove(array[w.event_slug], null), united('{}', w.tags),
        case when s.reason = 'unsubscribed' then s.at end, case when s.reason = 'bounced' then s.at end, w.at, w.at
      from wanted w left join suppressed_addresses s on s.address_hash = address_hash(w.email)
      where s.reason is distinct from 'erased' and not exists (select from people known where known.email = w.email)
        and not exists (select from people known where known.other_emails <> '{}' and known.other_emails @> array[w.email])
      order by w.email on conflict (email) do nothing returning p.person_id, p.email, p.tags
    ), noted as (
      insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
      select m.person_id, 'seen', 'system', null,
        jsonb_strip_nulls(jsonb_build_object('source', w.source, 'event_slug', w.event_slug)), w.at
      from made m join wanted w using (email)
      union all
      select m.person_id, 'import', by_kind, by_id, jsonb_build_object('tags', w.tags), w.at
      from made m join wanted w using (email) where m.tags <> '{}'
    )
    select coalesce(array_agg(m.email), '{}') into created from made m;

    with wanted as (
      select distinct on (w.email) w.* from jsonb_to_recordset(sightings) as w (person_id uuid, email text, source text, at timestamptz,
        name text, folded_name text, company text, folded_company text, client_type text, event_slug text, tags text[])
      order by w.email
    ), known as (
      select w.*, p.person_id as known_id, array_remove(array[w.event_slug], null) as slugs, coalesce(w.tags, '{}') as new_tags,
        p.sources, p.event_slugs, p.tags as old_tags
      from wanted w join people p on p.email = w.email
        left join suppressed_addresses s on s.address_hash = address_hash(w.email)
      where w.email <> all (created) and s.reason is distinct from 'erased'
      order by w.email for update of p
    ), changed as (
      update people p set
        name = coalesce(p.name, k.name), folded_name = case when p.name is null then k.folded_name else p.folded_name end,
        company = coalesce(p.company, k.company), folded_company = case when p.company is null then k.folded_company else p.folded_company end,
        sources = united(p.sources, array[k.source]), event_slugs = united(p.event_slugs, k.slugs), tags = united(p.tags, k.new_tags),
        client_type = coalesce(k.client_type, p.client_type), updated_at = k.at
      from known k where p.person_id = k.known_id returning p.email
    ), noted as (
      insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
      select k.known_id, 'seen', 'system', null,
        jsonb_strip_nulls(jsonb_build_object('source', k.source, 'event_slug', k.event_slug)), k.at
      from known k where not (k.sources @> array[k.source] and k.event_slugs @> k.slugs)
      union all
      select k.known_id, 'import', by_kind, by_id, jsonb_build_object('tags', k.new_tags), k.at
      from known k where not k.old_tags @> k.new_tags
    )
    select coalesce(array_agg(c.email), '{}') into updated from changed c;

    -- Erased ones, further addresses of somebody, those that are named twice, and those that somebody else has just made.
    for sighting in
      select one.value from (
        select e.value, row_number() over (partition by e.value ->> 'email' order by e.place) as turn
        from jsonb_array_elements(sightings) with ordinality as e (value, place)) as one
      where one.turn > 1 or one.value ->> 'email' <> all (created || updated)
      order by one.value ->> 'email', one.turn
    loop
      outcomes := outcomes || import_person(sighting, by_kind, by_id);
    end loop;
    return query select 'created', cardinality(created)::bigint
      union all select 'updated', cardinality(updated)::bigint
      union all select one, count(*) from unnest(outcomes) as one group by one;
  end
$$;
`,
};
