import type { PlanEntitlementMatrixResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { type Column, printList } from '../print.ts';

type Row = PlanEntitlementMatrixResponse['rows'][number];

export const comparePlans = (plans: Command, perform: Perform): Command =>
  withJson(['entitlement', 'kind', 'values'], plans.command('compare').description('Compare the plans')).action(perform(compare));

async function compare(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  const matrix = await client.plans.compare({ signal: world.signal });
  const columns: Column<Row>[] = matrix.plans.map(({ plan_id }) => ({
    title: plan_id,
    of: ({ values }) => valueText(values.find((one) => one.plan_id === plan_id)?.value),
    align: 'right',
  }));
  printList(world, matrix.rows, [{ title: 'what', of: ({ entitlement }) => entitlement }, ...columns]);
}

/** Null is without limit. */
export const valueText = (value: string | number | boolean | null | undefined): string | number | undefined =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : value === null ? 'no limit' : value;
