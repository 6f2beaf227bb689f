import { styleText } from 'node:util';
import type { PlanMeterUsage } from '@tallygate/sdk';
import type { Command } from 'commander';
import { gauge } from '../bar.ts';
import { type CommandWorld, type Perform, withJson } from '../command.ts';
import { PlanUsageQuotaResponseFields } from '../generated/fields.ts';
import { type Column, printList, printRecord } from '../print.ts';
import { valueText } from './compare.ts';

const BAR = 30;

const COLUMNS: readonly Column<PlanMeterUsage>[] = [
  { title: 'meter', of: ({ meter }) => meter },
  { title: 'used', of: ({ used }) => used },
  { title: 'included', of: ({ included }) => valueText(included) },
  { title: 'remaining', of: ({ remaining }) => valueText(remaining) },
  { title: 'beyond', of: ({ beyond }) => beyond },
];

export const planUsage = (plans: Command, perform: Perform): Command =>
  withJson(PlanUsageQuotaResponseFields, plans.command('usage').description('Show the used quota of this month')).action(perform(show));

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  const usage = await client.plans.usage({ signal: world.signal });
  if (world.jsonFields !== undefined) return printRecord(world, usage, []);
  if (!world.out.isTty) return printList(world, usage.meters, COLUMNS);
  const width = Math.max(...usage.meters.map(({ meter }) => meter.length));
  for (const meter of usage.meters) world.out.write(`${meter.meter.padEnd(width)}  ${barOf(meter, world.env.hasColor)}\n`);
  world.out.write(
    `${usage.plan_id} in ${usage.period}: ${usage.cost_usd} USD at catalogue prices, ${usage.covered_usd} covered, ${usage.charged_usd} charged. Resets ${usage.resets_at}.\n`,
  );
}

/** `██████████░░░░░░░░░░  50.0 %  500 of 1,000`. */
function barOf({ used, included, beyond }: PlanMeterUsage, hasColor: boolean): string {
  if (included === null) return `${' '.repeat(BAR)}           ${grouped(used)}, no limit`;
  if (included === 0 && beyond === 0) return `${' '.repeat(BAR)}           not included`;
  const share = included === 0 ? 1 : Math.min(1, used / included);
  const bar = gauge(share, BAR);
  const color = share >= 1 ? 'red' : share >= 0.8 ? 'yellow' : 'green';
  const percent = `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`.padStart(7);
  const more = beyond > 0 ? `, ${grouped(beyond)} beyond` : '';
  return `${hasColor ? styleText(color, bar, { validateStream: false }) : bar}  ${percent}  ${grouped(used)} of ${grouped(included)}${more}`;
}

const grouped = (count: number): string => count.toLocaleString('en-US');
