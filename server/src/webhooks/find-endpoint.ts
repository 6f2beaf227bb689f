import type { Principal } from '../http/index.ts';
import { Problem } from '../kernel/problem.ts';
import { firstOf, type Queryable, type RowOf } from '../kernel/statements.ts';
import type { WebhookEndpointEntity } from './entities.ts';
import { tables } from './tables.ts';

export type EndpointRow = RowOf<typeof WebhookEndpointEntity>;
export type Owner = 'account' | 'gateway';

/** An API key needs the scope beside the role of its owner. */
const isAdministrator = (principal: Principal): boolean =>
  principal.role === 'admin' && (principal.kind === 'session' || principal.scopes.has('admin:read'));

/** Null for the gateway. @throws Problem `forbidden` */
export function accountOf(principal: Principal, owner: Owner): string | null {
  if (owner === 'account') return principal.accountId;
  if (!isAdministrator(principal)) throw new Problem('forbidden', 'Webhooks and events of the gateway are for its administrators.');
  return null;
}

/** @throws Problem `not_found`, also for another account's and, to others than administrators, the gateway's */
export async function findEndpoint(db: Queryable, principal: Principal, id: string, lock?: 'locked'): Promise<EndpointRow> {
  const ours = tables
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .where((eb) => {
      const own = eb('account_id', '=', principal.accountId);
      return isAdministrator(principal) ? eb.or([own, eb('account_id', 'is', null)]) : own;
    });
  const found = await firstOf(db, lock ? ours.forNoKeyUpdate() : ours);
  if (!found) throw new Problem('not_found', 'There is no such webhook in this account: GET /v1/webhook-endpoints lists its webhooks.');
  return found;
}
