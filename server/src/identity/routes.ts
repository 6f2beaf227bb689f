import type { contract, UserResponse } from '@tallygate/contract';
import { rfc3339 } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import type { Handlers } from './handlers.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import type { User } from './user.ts';
import type { Users } from './users.ts';

export const identityRoutes = ({ users, sessions }: { users: Users; sessions: Sessions }): Handlers<typeof contract.identity> => ({
  createUser: async ({ body }) => ({ status: 201, body: toUser(await users.create(body)) }),
  login: async ({ body, peer }) => ({ status: 200, body: toLogin(await sessions.login(body, peer)) }),
  logout: async ({ principal }) => {
    await sessions.logout(principal);
    return { status: 204, body: undefined };
  },
  me: async ({ principal }) => ({ status: 200, body: toUser(await existing(users, principal.userId)) }),
});

async function existing(users: Users, userId: string): Promise<User> {
  const user = await users.find(userId);
  // Deleted between the check of the credential and here: the credential is no longer one.
  if (!user) throw new Problem('invalid_credentials', 'The user of this credential is gone.');
  return user;
}

const toLogin = ({ user, token, expiresAt }: SignedIn): UserResponse => ({
  ...toUser(user),
  session: { token, expires_at: rfc3339(expiresAt) },
});

const toUser = (user: User): UserResponse => ({
  user_id: user.id,
  account_id: user.account.id,
  email: user.email,
  name: user.name ?? null,
  role: user.role,
  email_verified: Boolean(user.emailVerifiedAt),
  mfa_enabled: false,
  plan: user.account.plan,
  created_at: rfc3339(user.createdAt),
});
