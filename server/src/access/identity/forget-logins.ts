import type { EntityManager } from '@mikro-orm/postgresql';
import { inUnit } from '../../kernel/statements.ts';
import { dropUnfinishedLogins } from './mfa/unfinished-logins.ts';
import { dropPasskeys } from './passkeys/user-passkeys.ts';
import { dropMailTokens } from './recovery/mail-tokens.ts';
import { endSessions } from './sessions.ts';
import type { User } from './user.ts';

/** What somebody could log in by, and where they have been. */
export async function forgetLogins(unit: EntityManager, user: User, at: Date): Promise<void> {
  await dropUnfinishedLogins(unit, user.id);
  await dropMailTokens(unit, user.id);
  await dropPasskeys(unit, user.id);
  await inUnit(unit).query('delete from known_addresses where user_id = $1', [user.id]);
  await inUnit(unit).query('delete from mail_requests where user_id = $1', [user.id]);
  await inUnit(unit).query('delete from login_failures where user_id = $1', [user.id]);
  await endSessions(unit, { userId: user.id, now: at });
  await inUnit(unit).query('update sessions set ip_address = null, user_agent = null where user_id = $1', [user.id]);
}
