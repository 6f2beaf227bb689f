/**
 * That somebody wants news by mail, as they said it. On a form anybody may say it of any address: it counts once the mail to that address was
 * answered (`consent_confirmed_at`). Whoever has unsubscribed has none.
 */
export const consentMigration = {
  name: '0081-consent',
  up: `
alter table people
  -- What the mail's link refers to; null where no mail asks, as in an import.
  add column consent_id uuid,
  add column consent_source text check (consent_source in ('user', 'registration', 'client_request', 'import')),
  add column consent_event_slug text,
  add column consent_given_at timestamptz,
  -- Where the mail went that asks whether it was they: another address of theirs proves nothing about this one.
  add column consent_email text,
  add column consent_asked_at timestamptz,
  add column consent_confirmed_at timestamptz,
  add constraint people_consent_is_whole check ((consent_given_at is null) = (consent_source is null)
    and (consent_confirmed_at is null or consent_given_at is not null)),
  add constraint unsubscribed_people_have_no_consent check (unsubscribed_at is null or consent_confirmed_at is null);
create unique index people_consent on people (consent_id) where consent_id is not null;
create index people_consent_unasked on people (consent_given_at) where consent_id is not null and consent_asked_at is null;

-- Nobody has any yet: the bits of everybody are those of nobody's consent.
insert into people_chunks (term, chunk, bits) select 'consent:none', chunk, bits from people_chunks where term = 'all' on conflict do nothing;

-- However somebody comes to be unsubscribed (a link, the team, a merge), what they had said before is withdrawn.
create function withdraw_consent() returns trigger language plpgsql as $$
  begin
    insert into person_history (person_id, action, actor_kind, detail, at)
      values (new.person_id, 'consent_withdrawn', 'system', jsonb_strip_nulls(jsonb_build_object('source', new.consent_source,
        'event_slug', new.consent_event_slug, 'given_at', new.consent_given_at, 'confirmed_at', new.consent_confirmed_at)), new.unsubscribed_at);
    new.consent_id := null;
    new.consent_source := null;
    new.consent_event_slug := null;
    new.consent_given_at := null;
    new.consent_email := null;
    new.consent_asked_at := null;
    new.consent_confirmed_at := null;
    return new;
  end
$$;
create trigger unsubscribing_withdraws_consent before update of unsubscribed_at, consent_confirmed_at on people for each row
  when (new.unsubscribed_at is not null and new.consent_given_at is not null
    and (old.unsubscribed_at is null or new.consent_confirmed_at is not null))
  execute function withdraw_consent();

-- What a form says of somebody, who is locked until the transaction ends. What is confirmed stays; what waits for its answer is not asked
-- again, so that a form fills nobody's mailbox.
create function claim_consent(claim jsonb) returns void language plpgsql as $$
  declare
    address text := claim ->> 'email';
    said_at timestamptz := claim ->> 'at';
    known people%rowtype;
  begin
    select * into known from people where email = address or (other_emails <> '{}' and other_emails @> array[address]) for update;
    if not found or known.consent_confirmed_at is not null
      or known.consent_given_at > said_at - (claim ->> 'open_ms')::float8 * interval '1 millisecond' then return; end if;
    update people set consent_id = (claim ->> 'consent_id')::uuid, consent_source = claim ->> 'source',
      consent_event_slug = claim ->> 'event_slug', consent_given_at = said_at, consent_email = null, consent_asked_at = null, updated_at = said_at
    where person_id = known.person_id;
    insert into person_history (person_id, action, actor_kind, detail, at) values (known.person_id, 'consent', 'system', jsonb_strip_nulls(
      jsonb_build_object('source', claim ->> 'source', 'event_slug', claim ->> 'event_slug', 'email', address)), said_at);
  end
$$;

-- What a team that imports people vouches for. An unsubscribed person stays so, whatever the file says.
create function import_consents(consents jsonb, by_kind text, by_id text) returns void language sql as $$
  with wanted as (
    select distinct on (known.person_id) known.person_id, w.given_at, w.at
    from jsonb_to_recordset(consents) as w (email text, given_at timestamptz, at timestamptz)
      cross join lateral (select p.person_id from people p where p.email = w.email or (p.other_emails <> '{}' and p.other_emails @> array[w.email])) known
    order by known.person_id, w.given_at
  ), given as (
    update people p set consent_id = null, consent_source = 'import', consent_event_slug = null, consent_given_at = w.given_at,
      consent_email = null, consent_asked_at = null, consent_confirmed_at = w.at, updated_at = w.at
    from wanted w where p.person_id = w.person_id and p.consent_confirmed_at is null and p.unsubscribed_at is null
    returning p.person_id, w.given_at, w.at
  )
  insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
  select person_id, 'consent', by_kind, by_id, jsonb_build_object('source', 'import', 'given_at', given_at), at from given
$$;

-- As before; and the survivor has the consent of either. What is not confirmed was asked of an address that theirs need not be.
create or replace function merge_people(gone_id uuid, kept_id uuid, merged_at timestamptz, by_kind text, by_id text)
returns void language plpgsql as $$
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
    if gone.consent_confirmed_at is not null then
      update people set consent_id = gone.consent_id, consent_source = gone.consent_source, consent_event_slug = gone.consent_event_slug,
        consent_given_at = gone.consent_given_at, consent_email = gone.consent_email, consent_asked_at = gone.consent_asked_at,
        consent_confirmed_at = gone.consent_confirmed_at
      where person_id = kept_id and consent_confirmed_at is null;
    end if;
    insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
      values (kept_id, 'merge', by_kind, by_id, jsonb_build_object('person_id', gone_id, 'email', gone.email), merged_at);
  end
$$;
`,
};
