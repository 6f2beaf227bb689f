/** Events of the site and who registered for them; the Vibethon is there from the first boot. */
export const eventsMigration = {
  name: '0041-events',
  up: `
create table site_events (
  event_id uuid primary key,
  slug text not null unique,
  title text not null,
  summary text not null,
  description text not null,
  status text not null check (status in ('draft', 'published', 'archived')),
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  time_zone text not null,
  venue_name text,
  venue_address text,
  online_url text,
  image_url text,
  capacity int check (capacity > 0),
  price_nano bigint not null check (price_nano >= 0),
  registration_closes_at timestamptz,
  -- Grows with every change: calendars go by it (SEQUENCE of RFC 5545).
  revision int not null default 0,
  -- The first time; from then on the slug is fixed.
  published_at timestamptz,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Drawn while the event's row is locked, so that the order of turns is the order of registrations.
create sequence event_turns;

create table event_registrations (
  registration_id uuid primary key,
  event_id uuid not null references site_events,
  email text not null,
  name text,
  company text,
  message text,
  -- Found or made by a job, for the address.
  user_id uuid references users,
  -- awaiting_payment holds a place until pay_by.
  status text not null check (status in ('confirmed', 'awaiting_payment', 'waitlisted', 'canceled')),
  turn bigint not null,
  price_nano bigint not null,
  payment_status text not null check (payment_status in ('not_required', 'due', 'paid', 'refunded', 'waived')),
  pay_by timestamptz check ((pay_by is not null) = (status = 'awaiting_payment')),
  -- The page on which it is being paid, or was.
  checkout_id uuid,
  payment_id uuid,
  admin_note text not null default '',
  attended_at timestamptz,
  confirmed_at timestamptz,
  canceled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index event_registrations_address on event_registrations (event_id, lower(email));
create index event_registrations_order on event_registrations (event_id, status, turn);
create index event_registrations_address_alone on event_registrations (lower(email));
create index event_registrations_unlinked on event_registrations (created_at) where user_id is null;
create index event_registrations_unpaid on event_registrations (pay_by) where status = 'awaiting_payment';
create index event_registrations_payment on event_registrations (payment_id);

insert into site_events (event_id, slug, title, summary, description, status, starts_at, ends_at, time_zone, capacity, price_nano,
  published_at, created_at, updated_at)
values ('019aa2f1-c2d3-7000-8000-766962657468', 'vibethon', 'Vibethon', 'Two days of building with agents, together.',
  'Bring an idea and build it with agents. Every team gets API keys with hard caps, so nobody can overspend, and a receipt for every request.',
  'published', '2027-03-06T09:00:00Z', '2027-03-07T18:00:00Z', 'UTC', 100, 0, now(), now(), now());
`,
};
