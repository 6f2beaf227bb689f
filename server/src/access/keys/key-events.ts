import type { Queryable } from '../../kernel/statements.ts';
import { recordEvent } from '../../webhooks/index.ts';

interface ToldKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly livemode: boolean;
}

type KeyEvent = 'key.created' | 'key.rotated' | 'key.revoked';

/** Tells the account's webhooks, in the transaction of the change. */
export async function recordKeyEvent(db: Queryable, type: KeyEvent, { id, accountId, name, livemode }: ToldKey): Promise<void> {
  await recordEvent(db, { accountId, type, data: { key_id: id, name, livemode } });
}
