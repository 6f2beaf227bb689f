import type { EntityManager } from '@mikro-orm/postgresql';
import { dropApprovals } from '../devices/device-codes.ts';
import { dropChallenges } from './login-challenge.ts';

/** Ends what a user's older password or factor has begun: logins that wait for a code, and programs that wait for their session. */
export async function dropUnfinishedLogins(unit: EntityManager, userId: string): Promise<void> {
  await dropChallenges(unit, userId);
  await dropApprovals(unit, userId);
}
