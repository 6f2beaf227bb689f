/** Lets the audit log be shortened by the gateway alone, which says so in its transaction; everything else is still refused. */
export const auditRetentionMigration = {
  name: '0121-audit-retention',
  up: `
create or replace function refuse_change_of_audit_log() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' and current_setting('tallygate.audit_retention', true) = 'on' then
      return old;
    end if;
    raise exception 'audit_log only grows: % is refused', tg_op;
  end
$$;
`,
};
