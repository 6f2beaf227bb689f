import type { KeyBudgetStatusResponse, KeyBudgetSummaryItem } from '@tallygate/sdk';
import type { Command } from 'commander';
import { gauge } from '../bar.ts';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyBudgetSummaryItemFields } from '../generated/fields.ts';
import { KEY_ARGUMENT, meantKey } from '../keys/meant.ts';
import { type Column, printList, printRecord } from '../print.ts';

const LINES: readonly Column<KeyBudgetStatusResponse>[] = [
  { title: 'Key', of: ({ key_id }) => key_id },
  { title: 'Month', of: ({ period }) => period },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Cap USD', of: ({ monthly_cap_usd }) => monthly_cap_usd ?? 'none' },
  { title: 'Spent USD', of: ({ spent_usd }) => spent_usd },
  { title: 'Held USD', of: ({ held_usd }) => held_usd },
  { title: 'Left USD', of: ({ remaining_usd }) => remaining_usd },
  { title: 'Used', of: ({ utilization }) => percentText(utilization) },
  { title: 'Alerts at', of: ({ alert_thresholds }) => alertsText(alert_thresholds) },
  { title: 'Resets', of: ({ resets_at }) => resets_at },
];

const COLUMNS: readonly Column<KeyBudgetSummaryItem>[] = [
  { title: 'id', of: ({ key_id }) => key_id, isSpare: true },
  { title: 'name', of: ({ name }) => name },
  { title: 'mode', of: ({ livemode }) => (livemode ? 'live' : 'test'), isSpare: true },
  { title: 'status', of: ({ status, revoked }) => (revoked ? 'revoked' : status) },
  { title: 'cap usd', of: ({ monthly_cap_usd }) => monthly_cap_usd, align: 'right' },
  { title: 'spent usd', of: ({ spent_usd }) => spent_usd, align: 'right' },
  { title: 'held usd', of: ({ held_usd }) => held_usd, align: 'right', isSpare: true },
  { title: 'left usd', of: ({ remaining_usd }) => remaining_usd, align: 'right' },
  { title: 'used', of: ({ utilization }) => percentText(utilization), align: 'right' },
];

const BAR = 20;

/** For people only: how much of the cap is used up. */
const draw = ({ utilization }: KeyBudgetSummaryItem, width: number): string => (utilization === null ? '' : gauge(utilization, width));
const CHART: Column<KeyBudgetSummaryItem> = { title: '', of: (item) => draw(item, BAR), draw, isSpare: true };

export const showBudgets = (budgets: Command, perform: Perform): Command =>
  withJson(
    KeyBudgetSummaryItemFields,
    budgets.command('show').description('The budget of a key this month, or of all keys').argument('[key]', KEY_ARGUMENT[1]),
  ).action(perform(show));

async function show(world: CommandWorld, { args: [text] }: Typed<object>): Promise<void> {
  const { signal } = world;
  const client = await world.connect();
  if (text !== undefined) {
    const { keyId } = await meantKey(world, client, text);
    return showBudget(world, await client.budgets.get(keyId, { signal }));
  }
  const { items, spent_usd, held_usd, period } = await client.budgets.summary({ signal });
  printList(world, items, world.out.isTty ? [...COLUMNS, CHART] : COLUMNS);
  // For people only: a script that adds up the lines must not count everything twice.
  if (world.out.isTty && world.jsonFields === undefined)
    world.out.write(`Live keys in ${period}: ${spent_usd} USD spent, ${held_usd} USD held.\n`);
}

export const showBudget = (world: CommandWorld, budget: KeyBudgetStatusResponse): void => printRecord(world, budget, LINES);

export const alertsText = (thresholds: readonly number[]): string => thresholds.map((percent) => `${percent} %`).join(', ') || 'none';

const percentText = (ratio: number | null): string | null => (ratio === null ? null : `${Number((ratio * 100).toFixed(2))} %`);
