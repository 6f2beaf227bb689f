import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';

/** Whether anything of an account's prompts and answers may be kept: both the operator and the account can say no. */
export interface Storing {
  isOn(accountId: string): Promise<boolean>;
  /** @throws Problem `storing_off` */
  requireOn(accountId: string): Promise<void>;
}

export function createStoring({ pool, isAllowed }: { pool: Pool; isAllowed: boolean }): Storing {
  async function isOn(accountId: string): Promise<boolean> {
    if (!isAllowed) return false;
    const { rows } = await pool.query<{ stores_content: boolean }>('select stores_content from accounts where id = $1', [accountId]);
    return rows[0]?.stores_content ?? false;
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
