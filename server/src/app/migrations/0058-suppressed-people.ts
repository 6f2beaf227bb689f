/**
 * Whoever has unsubscribed has done so with every address that is theirs, also one that becomes theirs by a merge or a change. That a mail came
 * back is said of one address: the person is bounced where it is the one that they are written to.
 */
export const suppressedPeopleMigration = {
  name: '0058-suppressed-people',
  up: `
create function suppress_unsubscribed_person() returns trigger language plpgsql as $$
  begin
    insert into suppressed_addresses (address_hash, reason, at)
      select address_hash(address), 'unsubscribed', new.unsubscribed_at from unnest(array[new.email] || new.other_emails) as addresses (address)
      on conflict (address_hash) do nothing;
    return null;
  end
$$;
create trigger unsubscribed_people_are_suppressed after insert or update of email, other_emails, unsubscribed_at on people
  for each row when (new.unsubscribed_at is not null) execute function suppress_unsubscribed_person();

create function bounce_of(address text) returns timestamptz language sql stable as
  $$ select at from suppressed_addresses where address_hash = address_hash(address) and reason = 'bounced' $$;

create function bounced_by_address() returns trigger language plpgsql as $$
  begin
    new.bounced_at := bounce_of(new.email);
    return new;
  end
$$;
create trigger bounced_goes_with_the_address before update of email, other_emails on people
  for each row when (old.email <> new.email or old.other_emails <> new.other_emails) execute function bounced_by_address();

insert into suppressed_addresses (address_hash, reason, at)
  select distinct on (address_hash(address)) address_hash(address), 'unsubscribed', unsubscribed_at
  from people, unnest(array[email] || other_emails) as addresses (address)
  where unsubscribed_at is not null order by address_hash(address), unsubscribed_at
  on conflict (address_hash) do nothing;
update people set bounced_at = bounce_of(email) where bounced_at is not null and cardinality(other_emails) > 0;
`,
};
