import type { EntityManager } from '@mikro-orm/postgresql';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { mailToken } from '../notices.ts';
import type { User } from '../user.ts';
import { mintMailToken } from './mail-tokens.ts';

/** Longer than a reset: nobody who registers for something is waiting for this mail. Afterwards a reset does the same. */
const CLAIM_MS = 7 * 24 * 3_600_000;

interface Claim {
  /** `claim-account` where nobody is in it yet; `take-over-account` where somebody may be who does not read the address. */
  readonly template: 'claim-account' | 'take-over-account';
  readonly box: SecretBox;
  readonly now: Date;
}

/** Mails the link that makes an account the one of the address's reader, by a password of their own. */
export async function mailClaim(unit: EntityManager, user: User, { template, box, now }: Claim): Promise<void> {
  const token = await mintMailToken(unit, 'reset-password', { userId: user.id, email: user.email }, now, CLAIM_MS);
  await mailToken(inUnit(unit), template, { to: user.email, accountId: user.account.id, token, box });
}
