/** Shares of a limit's cap at which webhooks are told, and the highest that was told of each window. */
export const alertsOfLimitsMigration = {
  name: '0192-alerts-of-limits',
  up: `
alter table limits add column alert_thresholds smallint[] not null default '{50,80,100}';
alter table lane_spend add column alerted_percent smallint not null default 0;
`,
};
