import type { PlanConfigResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { PlanConfigResponseFields } from '../generated/fields.ts';
import { type Column, printList } from '../print.ts';

const COLUMNS: readonly Column<PlanConfigResponse>[] = [
  { title: 'plan', of: ({ plan_id }) => plan_id },
  { title: 'usd a month', of: ({ monthly_price_usd }) => monthly_price_usd, align: 'right' },
  { title: 'requests', of: ({ quota }) => quota.requests, align: 'right' },
  { title: 'tokens', of: ({ quota }) => quota.tokens, align: 'right' },
  { title: 'images', of: ({ quota }) => quota.images, align: 'right' },
  { title: 'audio s', of: ({ quota }) => quota.audio_seconds, align: 'right' },
  { title: 'video s', of: ({ quota }) => quota.video_seconds, align: 'right' },
  { title: 'beyond', of: ({ overage }) => overage.policy },
];

export const listPlans = (plans: Command, perform: Perform): Command =>
  withJson(PlanConfigResponseFields, plans.command('list').description('List the plans on sale')).action(perform(list));

async function list(world: CommandWorld): Promise<void> {
  const client = await world.connect('none');
  printList(world, await client.plans.list({ signal: world.signal }), COLUMNS);
}
