import type { KeyBudgetAlert } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyBudgetAlertFields } from '../generated/fields.ts';
import { KEY_ARGUMENT, meantKey } from '../keys/meant.ts';
import type { Column } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const CAUSES: Record<KeyBudgetAlert['cause'], string> = {
  spend: 'spend reached it',
  cap_change: 'a changed budget',
  refusal: 'a request did not fit',
};

const COLUMNS: readonly Column<KeyBudgetAlert>[] = [
  { title: 'time', of: ({ created_at }) => created_at },
  { title: 'month', of: ({ period }) => period },
  { title: 'at', of: ({ threshold_percent }) => threshold_percent && `${threshold_percent} %`, align: 'right' },
  { title: 'cause', of: ({ cause }) => CAUSES[cause] },
  { title: 'spent usd', of: ({ spent_usd }) => spent_usd, align: 'right' },
  { title: 'cap usd', of: ({ cap_usd }) => cap_usd, align: 'right' },
];

export const budgetAlerts = (budgets: Command, perform: Perform): Command =>
  withJson(
    KeyBudgetAlertFields,
    withPages(
      budgets
        .command('alerts')
        .description('The alerts of a key, each threshold at most once a month; newest first')
        .argument(...KEY_ARGUMENT),
    ),
  ).action(perform(show));

async function show(world: CommandWorld, { args: [text = ''], options }: Typed<PageOptions>): Promise<void> {
  const client = await world.connect();
  const { keyId } = await meantKey(world, client, text);
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => client.budgets.alerts(keyId, { limit }, { signal: world.signal }),
  });
}
