import type { CurrentPlanResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { CurrentPlanResponseFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';

const LINES: readonly Column<CurrentPlanResponse>[] = [
  { title: 'Plan', of: ({ plan }) => `${plan.name} (version ${plan.version})` },
  { title: 'USD a month', of: ({ plan }) => plan.monthly_price_usd },
  { title: 'Subscription', of: ({ subscription }) => subscription.status },
  { title: 'Paid until', of: ({ subscription }) => subscription.period_end },
  { title: 'Ends then', of: ({ subscription }) => (subscription.cancels_at_period_end ? 'yes' : 'no') },
  { title: 'Grace until', of: ({ subscription }) => subscription.grace_ends_at },
  {
    title: 'Scheduled',
    of: ({ scheduled_downgrade: next }) => (next === null ? 'nothing' : `${next.to_plan_id} from ${next.effective_at}`),
  },
];

export const showPlan = (plans: Command, perform: Perform): Command =>
  withJson(CurrentPlanResponseFields, plans.command('show').description('Show the plan of the account, and scheduled changes')).action(
    perform(show),
  );

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.plans.current({ signal: world.signal }), LINES);
}
