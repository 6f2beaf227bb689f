import type { contract, Member } from '@tallygate/contract';
import { originOf } from '../../../audit/index.ts';
import type { Handlers } from '../../../http/index.ts';
import { rfc3339 } from '../../../kernel/clock.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Identity } from '../identity.ts';
import type { User } from '../user.ts';

export const memberRoutes = ({ members, invitations }: Pick<Identity, 'members' | 'invitations'>): Handlers<typeof contract.members> => ({
  list: async ({ principal, query }) => ({ status: 200, body: mapPage(await members.list(principal.accountId, query), toWire) }),
  invitations: async ({ principal, query }) => ({ status: 200, body: await invitations.list(principal.accountId, query) }),
  invite: async ({ principal, body, ...call }) => ({ status: 201, body: await invitations.invite(principal, body, originOf(call)) }),
  withdraw: async ({ principal, params, ...call }) => {
    await invitations.withdraw(principal, params.invitation_id, originOf(call));
    return { status: 204, body: undefined };
  },
  accept: async ({ body, ...call }) => ({ status: 201, body: toWire(await invitations.accept(body, originOf(call))) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: toWire(await members.update(principal, params.user_id, body, originOf(call))),
  }),
  remove: async ({ principal, params, ...call }) => {
    await members.remove(principal, params.user_id, originOf(call));
    return { status: 204, body: undefined };
  },
});

const toWire = (user: User): Member => ({
  user_id: user.id,
  email: user.email,
  name: user.name ?? null,
  account_role: user.accountRole,
  external_id: user.externalId ?? null,
  mfa_enabled: user.hasSecondFactor(),
  joined_at: rfc3339(user.createdAt),
});
