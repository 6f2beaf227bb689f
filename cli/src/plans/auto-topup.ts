import type { PlanAutoTopupResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { PlanAutoTopupResponseFields } from '../generated/fields.ts';
import { usdAmount } from '../option-values.ts';
import { type Column, printRecord } from '../print.ts';
import { requireConsent } from './confirm.ts';

const LINES: readonly Column<PlanAutoTopupResponse>[] = [
  { title: 'Status', of: ({ status }) => status },
  { title: 'Below USD', of: ({ threshold_usd }) => threshold_usd },
  { title: 'Charge USD', of: ({ amount_usd }) => amount_usd },
  { title: 'At most a day USD', of: ({ daily_maximum_usd }) => daily_maximum_usd },
  { title: 'Declined', of: ({ decline }) => decline },
];

interface SetOptions {
  readonly below: string;
  readonly amount: string;
  readonly dailyMax?: string;
  readonly yes?: true;
}

/** `plans auto-topup show|set|off`. */
export function autoTopup(plans: Command, perform: Perform): void {
  const command = plans.command('auto-topup').description('Charge the saved card when the balance is low');
  withJson(PlanAutoTopupResponseFields, command.command('show').description('Show the settings and the last top-up')).action(perform(show));
  withJson(
    PlanAutoTopupResponseFields,
    command
      .command('set')
      .description('Switch it on; asks for confirmation, since the card is charged automatically')
      .requiredOption('--below <usd>', 'charge as soon as the balance is below this', usdAmount)
      .requiredOption('--amount <usd>', 'what to charge, not less than --below', usdAmount)
      .option('--daily-max <usd>', 'at most in 24 hours; five times the amount when left out', usdAmount)
      .option('--yes', 'do not ask for confirmation'),
  ).action(perform(set));
  withJson(PlanAutoTopupResponseFields, command.command('off').description('Switch it off; the settings stay')).action(perform(switchOff));
}

async function show(world: CommandWorld): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.plans.autoTopup({ signal: world.signal }), LINES);
}

async function set(world: CommandWorld, { options: { amount, below, dailyMax, yes } }: Typed<SetOptions>): Promise<void> {
  const client = await world.connect('session');
  await requireConsent(world, `Charge the saved card ${amount} USD whenever the balance is below ${below} USD?`, yes);
  const daily = dailyMax === undefined ? {} : { daily_maximum_usd: dailyMax };
  const settings = { enabled: true, threshold_usd: below, amount_usd: amount, ...daily };
  printRecord(world, await client.plans.setAutoTopup(settings, { signal: world.signal }), LINES);
}

async function switchOff(world: CommandWorld): Promise<void> {
  const { signal } = world;
  const client = await world.connect('session');
  const { amount_usd, daily_maximum_usd, threshold_usd, ...present } = await client.plans.autoTopup({ signal });
  if (threshold_usd === null || amount_usd === null || daily_maximum_usd === null)
    return printRecord(world, { amount_usd, daily_maximum_usd, threshold_usd, ...present }, LINES);
  const settings = { enabled: false, threshold_usd, amount_usd, daily_maximum_usd };
  printRecord(world, await client.plans.setAutoTopup(settings, { signal }), LINES);
}
