import type { EntityManager } from '@mikro-orm/postgresql';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { SessionPrincipal } from '../../../http/index.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { Account } from '../account.ts';
import type { User } from '../user.ts';

/**
 * For logins with a password or a passkey. Owners have them all the same, so that a directory that is broken locks nobody out for long.
 * @throws Problem `directory_login_required`
 */
export function requirePasswordLogin({ account, accountRole }: User): void {
  if (!account.passwordLogin && accountRole !== 'owner')
    throw new Problem('directory_login_required', 'Members of this account log in with the company’s directory.');
}

/** Whether members of the account other than its owners log in with a password or a passkey. Sessions that there are go on. */
export const setPasswordLogin = (em: EntityManager, principal: SessionPrincipal, isOn: boolean, origin: Origin): Promise<void> =>
  inUnitOfWork(em, async (unit) => {
    const { accountId } = principal;
    const account = await unit.findOneOrFail(Account, { id: accountId });
    const from = account.passwordLogin;
    if (from === isOn) return;
    account.passwordLogin = isOn;
    await unit.flush();
    await recordAudit(inUnit(unit), {
      ...{ accountId, actor: actorOf(principal), action: 'account.password_login_changed', origin },
      target: { kind: 'account', id: accountId },
      changes: { password_login: { from, to: isOn } },
    });
  });
