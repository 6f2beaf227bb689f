/** Agent runs are a kind of their own whose spending is limited. */
export const limitsOfRunsMigration = {
  name: '0315-limits-of-runs',
  up: `
alter table limits drop constraint limits_kind_check;
alter table limits add constraint limits_kind_check
  check (kind in ('account', 'project', 'member', 'key', 'run', 'end_user', 'tag', 'model'));
`,
};
