import type { AccountResponse, Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import type { Column } from '../print.ts';

export const ACCOUNT_LINES: readonly Column<AccountResponse>[] = [
  { title: 'Account', of: ({ account_id }) => account_id },
  { title: 'Name', of: ({ name }) => name },
  { title: 'E-mail', of: ({ emails }) => emails.join(', ') },
  { title: 'Plan', of: ({ plan_id, plan_version }) => `${plan_id} (version ${plan_version})` },
  { title: 'Given', of: ({ given_plan }) => given_plan?.plan_id ?? 'nothing' },
  { title: 'Pays for', of: ({ subscription_plan_id }) => subscription_plan_id ?? 'nothing' },
  {
    title: 'Reserved',
    of: ({ dedicated_capacity: reserved }) =>
      reserved
        ? `${reserved.requests_per_minute} requests and ${reserved.tokens_per_minute} tokens per minute, ${reserved.concurrency} at the same time`
        : 'nothing',
  },
  { title: 'Since', of: ({ created_at }) => created_at },
];

/** Of an id, or of an e-mail address. */
export async function accountIdOf({ signal }: CommandWorld, client: Tallygate, account: string): Promise<string> {
  if (!account.includes('@')) return account;
  const { data } = await client.accounts.list({ email: account, limit: 1 }, { signal });
  if (!data[0]) throw new Failure('not_found', `There is no user with the address ${account}.`, EXIT.failure, 'tallygate accounts list');
  return data[0].account_id;
}
