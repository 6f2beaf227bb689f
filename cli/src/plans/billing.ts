import type { PlanBillingSummaryResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { PlanBillingSummaryResponseFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';

const LINES: readonly Column<PlanBillingSummaryResponse>[] = [
  { title: 'Plan', of: ({ plan_id, version }) => `${plan_id} (version ${version})` },
  { title: 'Subscription', of: ({ status }) => status },
  { title: 'Balance USD', of: ({ balance_usd }) => balance_usd },
  { title: 'Charged this month USD', of: ({ charged_usd }) => charged_usd },
  { title: 'Not yet invoiced USD', of: ({ uninvoiced_usd }) => uninvoiced_usd },
  { title: 'Invoiced and not paid USD', of: ({ owed_usd }) => owed_usd },
  { title: 'Disputed USD', of: ({ disputed_usd }) => disputed_usd },
  { title: 'Beyond the quota', of: ({ overage }) => overage.policy },
  { title: 'Next charge', of: ({ next_charge_at, next_charge_usd }) => next_charge_at && `${next_charge_usd} USD on ${next_charge_at}` },
  { title: 'Grace until', of: ({ grace_ends_at }) => grace_ends_at },
];

interface Options {
  readonly portal?: true;
}

export const planBilling = (plans: Command, perform: Perform): Command =>
  withJson(
    PlanBillingSummaryResponseFields,
    plans
      .command('billing')
      .description('Balance, charges, and what is due next')
      .option('--portal', 'open the page to change the card instead'),
  ).action(perform<Options>((world, { options: { portal } }) => (portal ? openPortal(world) : show(world))));

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.plans.billing({ signal: world.signal }), LINES);
}

async function openPortal(world: CommandWorld): Promise<void> {
  const client = await world.connect('session');
  const { url } = await client.plans.portal({}, { signal: world.signal });
  await world.openPage(url);
  world.out.write(`${url}\n`);
}
