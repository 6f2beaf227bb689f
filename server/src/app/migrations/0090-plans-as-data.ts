/** Tables of billing. The payment sandbox has its own of each, in which nothing is that live keys, lanes or receipts go by. */
const BILLING_TABLES = [
  ...['subscriptions', 'scheduled_downgrades', 'plan_trials', 'checkouts', 'upgrade_previews', 'payment_commands'],
  ...['payments', 'payment_disputes', 'invoices', 'auto_topups', 'webhook_events'],
  ...['postings', 'ledger_entries', 'ledger_daily', 'balance_credits'],
];

const likeLive = (table: string) => `create table test_billing.${table} (like public.${table} including all);`;

const SANDBOX = 'select id from sandbox_payment_objects';
/** Rows of the sandbox, from the time when its payments changed live plans and balances. */
const moved = (table: string, which: string) => `
with gone as (delete from public.${table} where ${which} returning *) insert into test_billing.${table} select * from gone;`;

/** Plans that operators define and give, and the billing of the payment sandbox apart from the live one. */
export const plansAsDataMigration = {
  name: '0090-plans-as-data',
  up: `
-- Every version of a plan that was ever offered, on the terms on which it was.
create table plan_versions (
  plan_id text not null,
  version smallint not null,
  terms jsonb not null,
  primary key (plan_id, version)
);
create function plan_versions_are_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'a version of a plan never changes';
end $$;
create trigger plan_versions_append_only before update or delete or truncate on plan_versions
  for each statement execute function plan_versions_are_append_only();
create function announce_plan_versions() returns trigger language plpgsql as $$
begin
  perform pg_notify('tallygate_plans', '');
  return null;
end $$;
create trigger plan_versions_announced after insert on plan_versions for each statement execute function announce_plan_versions();

-- Null: what follows from the gateway's settings.
alter table accounts alter column plan drop default, alter column plan drop not null;
-- What the operator gave, or an invitation for a time.
alter table accounts add column given_plan text;
alter table subscriptions add column given_over text;
alter table plan_trials alter column back_to drop not null;

update accounts a set given_plan = nullif(coalesce((select granted_plan from subscriptions s where s.account_id = a.id), a.plan), 'free');
update accounts set plan = nullif(plan, 'free');
update plan_trials set back_to = nullif(back_to, 'free');
alter table subscriptions drop column granted_plan;

-- The account that the first start made.
update accounts set plan = 'operator', given_plan = 'operator'
 where id = (select account_id from users where email = 'admin@tallygate.localhost' and closed_at is null);

drop trigger accounts_plan_changed on accounts;
create trigger accounts_plan_changed after update of plan, given_plan on accounts
  for each row when ((old.plan, old.given_plan) is distinct from (new.plan, new.given_plan)) execute function announce_plan();

create schema test_billing;
${BILLING_TABLES.map(likeLive).join('\n')}
create table test_billing.accounts (id uuid primary key references public.accounts, name text not null, plan text, given_plan text);
insert into test_billing.accounts (id, name) select id, name from public.accounts;
create function test_billing.follow_accounts() returns trigger language plpgsql as $$
begin
  insert into test_billing.accounts (id, name) values (new.id, new.name) on conflict (id) do update set name = excluded.name;
  return null;
end $$;
create trigger accounts_in_test_billing after insert or update of name on accounts
  for each row execute function test_billing.follow_accounts();
-- Test keys are never charged.
create view test_billing.usage_daily as select * from public.usage_daily where false;
create view test_billing.standing_usage as select * from public.standing_usage where false;

update test_billing.accounts t set plan = a.plan from public.accounts a join public.subscriptions s on s.account_id = a.id
 where t.id = a.id and s.customer_id in (${SANDBOX});
update accounts a set plan = a.given_plan from subscriptions s where s.account_id = a.id and s.customer_id in (${SANDBOX});
create temporary table reversed on commit drop as
  select posting_id, gen_random_uuid() as reversal_id from postings where kind = 'payment' and request_id in (${SANDBOX});
insert into test_billing.postings select p.* from public.postings p join reversed using (posting_id);
insert into test_billing.ledger_entries select e.* from public.ledger_entries e join reversed using (posting_id);
insert into test_billing.balance_credits select c.* from public.balance_credits c join reversed using (posting_id);
insert into test_billing.ledger_daily (account, day, amount_nano)
  select e.account, p.day, sum(e.amount_nano) from reversed join public.postings p using (posting_id) join public.ledger_entries e using (posting_id)
   group by 1, 2;
insert into postings (posting_id, kind, request_id, attempt, livemode, day)
  select reversal_id, kind, request_id, attempt + 16384, livemode, day from postings join reversed using (posting_id);
insert into ledger_entries (posting_id, account, amount_nano)
  select reversal_id, account, -amount_nano from ledger_entries join reversed using (posting_id);
insert into balance_credits (posting_id, account_id, amount_nano)
  select reversal_id, account_id, -amount_nano from balance_credits join reversed using (posting_id);
update ledger_daily d set amount_nano = d.amount_nano - t.amount_nano from test_billing.ledger_daily t where t.account = d.account and t.day = d.day;

update invoices set status = 'open', billed_on = null, provider_item_id = null, item_subscription_id = null
 where kind = 'usage' and (billed_on in (${SANDBOX}) or provider_item_id in (${SANDBOX}));
${[
  moved('scheduled_downgrades', `account_id in (select account_id from public.subscriptions where customer_id in (${SANDBOX}))`),
  moved('auto_topups', `account_id in (select account_id from public.subscriptions where customer_id in (${SANDBOX}))`),
  moved('subscriptions', `customer_id in (${SANDBOX})`),
  moved('checkouts', `session_id in (${SANDBOX})`),
  moved(
    'payment_commands',
    `kind = 'refund' and subject in (select payment_id::text from public.payments where provider_id in (${SANDBOX}))`,
  ),
  moved('payment_disputes', `provider_payment_id in (${SANDBOX})`),
  moved('payments', `provider_id in (${SANDBOX})`),
  moved('invoices', `provider_id in (${SANDBOX})`),
  moved('webhook_events', 'event_id in (select id from sandbox_payment_events)'),
].join('')}
`,
};
