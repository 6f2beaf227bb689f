import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import type { ExitCode } from '../exit-codes.ts';
import { PlanCheckoutStateFields } from '../generated/fields.ts';
import { usdAmount } from '../option-values.ts';
import { requireConsent } from './confirm.ts';
import { type PageOptions, pageOptions, payOnPage } from './pay-on-page.ts';

interface Options extends PageOptions {
  readonly yes?: true;
  readonly saveCard?: true;
}

export function topUp(plans: Command, perform: Perform): Command {
  const command = plans
    .command('topup')
    .description('Pay into the balance: opens the page in a browser, and waits for the result')
    .argument('<amount>', 'USD, whole cents, from 1 to 10000', usdAmount)
    .option('--save-card', 'keep the card for automatic top-ups')
    .option('--yes', 'do not ask for confirmation');
  for (const option of pageOptions()) command.addOption(option);
  return withJson(PlanCheckoutStateFields, command).action(perform(pay));
}

async function pay(world: CommandWorld, { args: [amount_usd = ''], options }: Typed<Options>): Promise<ExitCode> {
  const client = await world.connect('session');
  await requireConsent(world, `Pay ${amount_usd} USD into the balance?`, options.yes);
  const made = await client.plans.topUp({ amount_usd, save_card: options.saveCard ?? false }, { signal: world.signal });
  return payOnPage(world, client, made, options);
}
