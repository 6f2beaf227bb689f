import type { PlanSpendAlertsResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { PlanSpendAlertsResponseFields } from '../generated/fields.ts';
import { usdAmount } from '../option-values.ts';
import { type Column, printList, printRecord } from '../print.ts';

/** A threshold, with the last month in which it was reached. */
interface Row {
  readonly threshold: string;
  readonly last: PlanSpendAlertsResponse['alerts'][number] | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'at usd', of: ({ threshold }) => threshold, align: 'right' },
  { title: 'last reached', of: ({ last }) => last?.period ?? null },
  { title: 'on', of: ({ last }) => last?.created_at ?? null },
];

/** `plans alerts list|set|off`. */
export function spendAlerts(plans: Command, perform: Perform): void {
  const command = plans.command('alerts').description('Spend alerts: mails when the charges of a month reach an amount');
  withJson(PlanSpendAlertsResponseFields, command.command('list').description('Show the amounts, and when each was last reached')).action(
    perform(list),
  );
  withJson(
    PlanSpendAlertsResponseFields,
    command
      .command('set')
      .description('Replace the amounts')
      .argument('<usd...>', 'one to ten amounts', (text: string, before: readonly string[] = []) => [...before, usdAmount(text)]),
  ).action(perform(set));
  withJson(PlanSpendAlertsResponseFields, command.command('off').description('Remove all alerts')).action(perform(switchOff));
}

function print(world: CommandWorld, answer: PlanSpendAlertsResponse): void {
  if (world.jsonFields !== undefined) {
    printRecord(world, answer, []);
    return;
  }
  const { alerts, thresholds_usd } = answer;
  const rows = thresholds_usd.map((threshold) => ({ threshold, last: alerts.find(({ threshold_usd }) => threshold_usd === threshold) }));
  printList(world, rows, COLUMNS);
}

async function list(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  print(world, await client.plans.spendAlerts({ signal: world.signal }));
}

const replace = async (world: CommandWorld, thresholds_usd: string[]): Promise<void> => {
  const client = await world.connect('session');
  print(world, await client.plans.setSpendAlerts({ thresholds_usd }, { signal: world.signal }));
};

const set = (world: CommandWorld, { args }: Typed<object>): Promise<void> => replace(world, [...args]);
const switchOff = (world: CommandWorld): Promise<void> => replace(world, []);
