/** People who are forgotten: what counts for places, invitations and work that was done stays, and who it was goes. */
export const forgettingMigration = {
  name: '0056-forgetting',
  up: `
-- From then on the address is nobody's (…@erased.invalid), and no job looks for whose it is.
alter table event_registrations add column erased_at timestamptz;
alter table invites add column erased_at timestamptz;
alter table invite_activations add column erased_at timestamptz;
alter table client_requests add column erased_at timestamptz;

drop index event_registrations_unlinked;
create index event_registrations_unlinked on event_registrations (created_at) where user_id is null and erased_at is null;
drop index invite_activations_due;
create index invite_activations_due on invite_activations (activated_at) where granted_at is null and erased_at is null;
create index invite_activations_address on invite_activations (lower(email));
create index invites_address on invites (lower(email)) where email is not null;
create index mails_recipient on mails (lower(recipient));
create index mails_about on mails (lower(data ->> 'email')) where data ? 'email';

-- Accounts that have closed, until a job has taken out what is kept under their addresses.
create table departed_users (
  user_id uuid primary key,
  emails text[] not null,
  closed_at timestamptz not null
);

create or replace function forget_user(of_user uuid, closed_at timestamptz) returns void language plpgsql as $$
  begin
    insert into departed_users (user_id, emails, closed_at)
      select p.user_id, array[p.email] || p.other_emails, forget_user.closed_at from people p where p.user_id = of_user
      on conflict (user_id) do nothing;
    delete from people where user_id = of_user and sources = '{user}';
    update people set user_id = null, plan_tier = null, sources = array_remove(sources, 'user'), updated_at = forget_user.closed_at
      where user_id = of_user;
  end
$$;

-- Named after whoever they belonged to.
update accounts set name = 'Closed account' where id in (select account_id from users where closed_at is not null);
update sessions set ip_address = null, user_agent = null where user_id in (select id from users where closed_at is not null);
delete from mail_requests where user_id in (select id from users where closed_at is not null);
`,
};
