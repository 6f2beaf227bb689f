/** What could have served a request and was left aside, for its trace. */
export const skippedDeploymentsMigration = {
  name: '0029-skipped-deployments',
  up: 'alter table usage_records add column skipped jsonb',
};
