/** Where what is owed is billed, and what an automatic top-up may charge. */
export const owedInvoicesMigration = {
  name: '0051-owed-invoices',
  up: `
-- Of usage: the subscription whose next invoice takes it, or none, and the invoice at the provider that it came to stand on.
alter table invoices add column item_subscription_id text;
alter table invoices add column bills_alone boolean not null default false;
alter table invoices add column billed_on text;

-- Of the charge under way: the settings may change meanwhile.
alter table auto_topups add column attempt_nano bigint;
update auto_topups set attempt_nano = amount_nano where attempt_id is not null;
alter table auto_topups add column daily_maximum_nano bigint;
update auto_topups set daily_maximum_nano = 5 * amount_nano;
alter table auto_topups alter column daily_maximum_nano set not null;
`,
};
