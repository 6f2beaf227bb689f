import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { AccountResponseFields } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import { printRecord } from '../print.ts';
import { ACCOUNT_LINES, accountIdOf } from './find-account.ts';

interface Options {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly end?: true;
}

export const reserveCapacity = (accounts: Command, perform: Perform): Command =>
  withJson(
    AccountResponseFields,
    accounts
      .command('reserve')
      .description('Reserve capacity for an account at the address for dedicated traffic')
      .argument('<account>', 'id or e-mail address')
      .option('--rpm <n>', 'requests per minute', wholeNumber())
      .option('--tpm <n>', 'tokens per minute', wholeNumber())
      .option('--concurrency <n>', 'requests at the same time, kept free on every gateway', wholeNumber())
      .option('--end', 'end its contract'),
  ).action(perform(reserve));

async function reserve(world: CommandWorld, { args: [account = ''], options }: Typed<Options>): Promise<void> {
  const dedicated_capacity = capacityOf(options);
  const client = await world.connect('session');
  const id = await accountIdOf(world, client, account);
  printRecord(world, await client.accounts.setDedicatedCapacity(id, { dedicated_capacity }, { signal: world.signal }), ACCOUNT_LINES);
}

function capacityOf({ rpm, tpm, concurrency, end }: Options) {
  if (end && rpm === undefined && tpm === undefined && concurrency === undefined) return null;
  if (end || rpm === undefined || tpm === undefined || concurrency === undefined)
    throw new Failure('usage', 'Give --rpm, --tpm and --concurrency, or --end alone.', EXIT.usage);
  return { requests_per_minute: rpm, tokens_per_minute: tpm, concurrency };
}
