/** What a line of a batch may cost while a provider is at work for it: it outlives the process that has asked. */
export const batchLinesInFlightMigration = {
  name: '0091-batch-lines-in-flight',
  up: `
    -- What settles the line's call should nobody ever say what came of it: cost, units and record for the lanes.
    alter table batch_lines add column in_flight json;
    -- Calls of the line that are settled, or cost nothing: the next is settled under a number above these.
    alter table batch_lines add column attempts_before smallint not null default 0;
  `,
};
