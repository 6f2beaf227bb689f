/**
 * Where a mail has asked somebody whom the team then vouches for, its link stays good: an answer from whoever reads the address proves more than
 * a file does.
 */
export const consentAnsweredAfterImportMigration = {
  name: '0086-consent-answered-after-import',
  up: `
create or replace function import_consents(consents jsonb, by_kind text, by_id text) returns void language sql as $$
  with wanted as (
    select distinct on (known.person_id) known.person_id, w.given_at, w.at
    from jsonb_to_recordset(consents) as w (email text, given_at timestamptz, at timestamptz)
      cross join lateral (select p.person_id from people p where p.email = w.email or (p.other_emails <> '{}' and p.other_emails @> array[w.email])) known
    order by known.person_id, w.given_at
  ), given as (
    update people p set consent_id = case when p.consent_asked_at is not null then p.consent_id end, consent_source = 'import',
      consent_event_slug = null, consent_given_at = w.given_at, consent_confirmed_at = w.at, updated_at = w.at
    from wanted w where p.person_id = w.person_id and p.consent_confirmed_at is null and p.unsubscribed_at is null
    returning p.person_id, w.given_at, w.at
  )
  insert into person_history (person_id, action, actor_kind, actor_id, detail, at)
  select person_id, 'consent', by_kind, by_id, jsonb_build_object('source', 'import', 'given_at', given_at), at from given
$$;
`,
};
