/** Deployments that are not asked while another one can be, so that webhooks are told once when that begins and once when it ends. */
export const deploymentsSetAsideMigration = {
  name: '0191-deployments-set-aside',
  up: `
create table deployments_set_aside (
  name text collate "C" primary key,
  set_aside_at timestamptz not null
);
`,
};
