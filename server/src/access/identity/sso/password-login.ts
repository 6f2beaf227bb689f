import type { EntityManager } from '@mikro-orm/postgresql';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { SessionPrincipal } from '../../../http/index.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { Account } from '../account.ts';

/** Whether members of the account other than its owners log in with e-mail address and password. Sessions that there are go on. */
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
