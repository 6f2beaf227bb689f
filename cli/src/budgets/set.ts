import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyBudgetStatusResponseFields } from '../generated/fields.ts';
import { KEY_ARGUMENT, meantKey } from '../keys/meant.ts';
import { percents, usdAmount } from '../option-values.ts';
import { showBudget } from './show.ts';

interface Options {
  readonly alerts?: number[];
}

export const setBudget = (budgets: Command, perform: Perform): Command =>
  withJson(
    KeyBudgetStatusResponseFields,
    budgets
      .command('set')
      .description('Set or change the hard monthly cap of a key')
      .argument(...KEY_ARGUMENT)
      .argument('<amount>', 'USD; 0 lets nothing through that costs anything', usdAmount)
      .option('--alerts <percents>', 'when to send a mail, such as 50,80,100; or none', percents),
  ).action(perform(set));

async function set(world: CommandWorld, { args: [text = '', monthly_cap_usd = ''], options: { alerts } }: Typed<Options>): Promise<void> {
  const client = await world.connect('session');
  const { keyId } = await meantKey(world, client, text);
  showBudget(world, await client.budgets.set(keyId, { monthly_cap_usd, alert_thresholds: alerts }, { signal: world.signal }));
}
