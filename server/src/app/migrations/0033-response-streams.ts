/** Streams of stored responses as they were told, so that whoever lost one can go on with it. */
export const responseStreamsMigration = {
  name: '0033-response-streams',
  up: `
    create table stored_response_streams (
      response_id text collate "C" primary key references stored_responses (id) on delete cascade,
      -- Server-sent events, byte for byte.
      events bytea not null
    );
  `,
};
