/** Signs the links by which people end their own registrations. */
export const eventLinksMigration = {
  name: '0059-event-links',
  up: `
create table event_secret (is_only boolean primary key default true check (is_only), secret text not null);
insert into event_secret (secret) values (gen_random_uuid()::text || gen_random_uuid()::text);
`,
};
