import type { PlanOverageEstimateResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { PlanOverageEstimateResponseFields } from '../generated/fields.ts';
import { type Column, printList, printRecord } from '../print.ts';

const LINES: readonly Column<PlanOverageEstimateResponse>[] = [
  { title: 'Month', of: ({ period }) => period },
  { title: 'Beyond the quota', of: ({ policy }) => policy },
  { title: 'Charged USD', of: ({ charged_usd }) => charged_usd },
  { title: 'By the month’s end USD', of: ({ projected_usd }) => projected_usd },
];

const MODELS: readonly Column<PlanOverageEstimateResponse['lines'][number]>[] = [
  { title: 'model', of: ({ model }) => model },
  { title: 'requests', of: ({ requests }) => requests, align: 'right' },
  { title: 'charged usd', of: ({ charged_usd }) => charged_usd, align: 'right' },
];

export const planOverage = (plans: Command, perform: Perform): Command =>
  withJson(
    PlanOverageEstimateResponseFields,
    plans.command('overage').description('Charges beyond the quota, and the projected total of the month'),
  ).action(perform(show));

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  const estimate = await client.plans.overage({ signal: world.signal });
  printRecord(world, estimate, LINES);
  if (world.jsonFields === undefined && world.out.isTty && estimate.lines.length > 0) printList(world, estimate.lines, MODELS);
}
