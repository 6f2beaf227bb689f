import { type Command, InvalidArgumentError } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { AccountResponseFields } from '../generated/fields.ts';
import { printRecord } from '../print.ts';
import { ACCOUNT_LINES, accountIdOf } from './find-account.ts';

const PLAN = /^[a-z][a-z0-9_-]{0,39}(?:@[1-9]\d{0,4})?$/;

export const setPlan = (accounts: Command, perform: Perform): Command =>
  withJson(
    AccountResponseFields,
    accounts
      .command('plan')
      .description('Grant an account a plan, without a payment; in effect within a second')
      .argument('<account>', 'id or e-mail address')
      .argument('<plan>', 'pro, pro@1 for one version of it, operator for no limits, default to remove the granted plan', checkedPlan),
  ).action(perform(give));

async function give(world: CommandWorld, { args: [account = '', plan = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const [planId = '', version] = plan.split('@');
  const request = plan === 'default' ? { plan_id: null } : { plan_id: planId, ...(version !== undefined && { version: Number(version) }) };
  const id = await accountIdOf(world, client, account);
  printRecord(world, await client.accounts.setPlan(id, request, { signal: world.signal }), ACCOUNT_LINES);
}

function checkedPlan(text: string): string {
  if (PLAN.test(text)) return text;
  throw new InvalidArgumentError('Expected the id of a plan such as pro, or a version of it such as pro@1.');
}
