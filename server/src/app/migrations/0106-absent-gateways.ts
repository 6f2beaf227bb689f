/** Which gateways the lanes of the next epoch have to wait for, and what settles late and no longer fits a cap. */
export const absentGatewaysMigration = {
  name: '0106-absent-gateways',
  up: `
    -- Sessions of processes are ended with their processes; from here on a session is that of a data directory.
    delete from gateway_sessions;
    alter table gateway_sessions
      -- Whose holds they are in Redis: each process of the data directory has another one.
      add column process uuid not null,
      -- An epoch was opened without this gateway: what its journal has from before that is settled late.
      add column is_late boolean not null,
      -- The epoch for which what an earlier process had in flight is settled.
      add column settled text;
    alter table lane_epoch drop constraint lane_epoch_state_check,
      add constraint lane_epoch_state_check check (state in ('recovering', 'declaring', 'settling', 'open'));
    -- Of an older release.
    update lane_epoch set state = 'recovering', epoch = gen_random_uuid()::text,
      older = case when state = 'open' then array[epoch] else array_prepend(epoch, older) end;

    -- The part of the cost that no longer fitted a cap when the call was settled: booked as the operator's loss, in no cost and in no charge.
    alter table usage_records add column waived_nano bigint not null default 0;
  `,
};
