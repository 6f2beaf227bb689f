import type { KeyBudgetChange } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyBudgetChangeFields } from '../generated/fields.ts';
import { KEY_ARGUMENT, meantKey } from '../keys/meant.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';
import { alertsText } from './show.ts';

const COLUMNS: readonly Column<KeyBudgetChange>[] = [
  { title: 'time', of: ({ changed_at }) => changed_at },
  { title: 'by', of: ({ actor }) => `${actor.kind} ${actor.id}` },
  { title: 'old cap usd', of: ({ previous_cap_usd }) => previous_cap_usd, align: 'right' },
  { title: 'new cap usd', of: ({ new_cap_usd }) => new_cap_usd, align: 'right' },
  { title: 'old alerts', of: ({ previous_alert_thresholds }) => alertsText(previous_alert_thresholds) },
  { title: 'new alerts', of: ({ new_alert_thresholds }) => alertsText(new_alert_thresholds) },
];

export const budgetHistory = (budgets: Command, perform: Perform): Command =>
  withJson(
    KeyBudgetChangeFields,
    withPages(
      budgets
        .command('history')
        .description('Who changed the budget of a key, from what to what; newest first')
        .argument(...KEY_ARGUMENT),
    ),
  ).action(perform(show));

async function show(world: CommandWorld, { args: [text = ''], options }: Typed<PageOptions>): Promise<void> {
  const client = await world.connect();
  const { keyId } = await meantKey(world, client, text);
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => client.budgets.history(keyId, { limit }, { signal: world.signal }),
  });
}
