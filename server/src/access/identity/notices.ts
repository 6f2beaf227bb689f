import type { Origin } from '../../audit/index.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import type { Queryable } from '../../kernel/statements.ts';
import { queueMail, sealForMail } from '../../mail/index.ts';
import type { MailToken, Purpose } from './recovery/mail-tokens.ts';

type Notice =
  | 'password-changed'
  | 'email-change-requested'
  | 'email-changed'
  | 'mfa-enabled'
  | 'mfa-disabled'
  | 'recovery-code-used'
  | 'passkey-added'
  | 'passkey-removed'
  | 'passkey-copied'
  | 'logins-failed'
  | 'second-factors-failed'
  | 'role-changed'
  | 'account-closed';

interface Told {
  readonly to: string;
  readonly accountId: string;
  readonly at: Date;
  readonly origin: Origin;
}

/** Tells the owner, outside of the account, what was done to it. */
export const notify = (db: Queryable, template: Notice, { to, accountId, at, origin }: Told): Promise<void> =>
  queueMail(db, { to, template, accountId, data: { at: at.toISOString(), ip: origin.ip, user_agent: origin.userAgent } });

/** The mail that carries a token; the token lies sealed in its row. `claim-account` and `take-over-account` carry one that sets a password. */
export const mailToken = (
  db: Queryable,
  purpose: Purpose | 'claim-account' | 'take-over-account',
  { to, accountId, token, box }: { to: string; accountId: string; token: MailToken; box: SecretBox },
): Promise<void> =>
  queueMail(db, {
    to,
    template: purpose,
    accountId,
    data: { sealed_token: sealForMail(box, token.token), expires_at: token.expiresAt.toISOString() },
  });
