/**
 * An answer counts for the address that was asked. Whoever has another one by then, by a change or because two people turned out to be one, is
 * asked anew there; what a team vouched for at an import is of the person, whatever their address.
 */
export const consentFollowsAddressMigration = {
  name: '0084-consent-follows-the-address',
  up: `
create function ask_consent_anew() returns trigger language plpgsql as $$
  begin
    new.consent_id := gen_random_uuid();
    new.consent_email := null;
    new.consent_asked_at := null;
    return new;
  end
$$;
-- What is confirmed went along with an address that was proven to be the same person's.
create trigger another_address_is_asked_anew before update of email on people for each row
  when (new.email is distinct from old.email and new.consent_id is not null and new.consent_confirmed_at is null
    and new.consent_asked_at is not null)
  execute function ask_consent_anew();

update people set consent_id = gen_random_uuid(), consent_email = null, consent_asked_at = null
where consent_id is not null and consent_confirmed_at is null and consent_email is distinct from email and consent_asked_at is not null;

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
    if gone.consent_given_at is not null then
      -- Nobody asked the address that stays: it is asked, unless the team vouched for the person.
      update people set consent_id = case when gone.consent_source = 'import' then null else gen_random_uuid() end,
        consent_source = gone.consent_source, consent_event_slug = gone.consent_event_slug, consent_given_at = gone.consent_given_at,
        consent_email = null, consent_asked_at = null,
        consent_confirmed_at = case when gone.consent_source = 'import' then gone.consent_confirmed_at end
      where person_id = kept_id and unsubscribed_at is null
        and (consent_given_at is null or (consent_confirmed_at is null and gone.consent_source = 'import'));
    end if;
    insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
      values (kept_id, 'merge', by_kind, by_id, jsonb_build_object('person_id', gone_id, 'email', gone.email), merged_at);
  end
$$;
`,
};
