import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';
import { firstOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** Whether anything of an account's prompts and answers may be kept: both the operator and the account can say no. */
export interface Storing {
  isOn(accountId: string): Promise<boolean>;
  /** @throws Problem `storing_off` */
  requireOn(accountId: string): Promise<void>;
}

export function createStoring({ pool, isAllowed }: { pool: Pool; isAllowed: boolean }): Storing {
  async function isOn(accountId: string): Promise<boolean> {
    if (!isAllowed) return false;
    const account = await firstOf(pool, tables.selectFrom('accounts').select('stores_content').where('id', '=', accountId));
    return account?.stores_content ?? false;
  }

  return {
    isOn,
    async requireOn(accountId) {
      if (await isOn(accountId)) return;
      throw new Problem(
        'storing_off',
        isAllowed
          ? 'Storing is switched off in this account: send `store: false`, or switch it on with PATCH /v1/users/me.'
          : 'This gateway keeps nothing of prompts and answers: send `store: false`, and the earlier messages with each request.',
      );
    },
  };
}
