import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { mapPage } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Identity } from './identity.ts';
import type { User } from './user.ts';
import type { Users } from './users.ts';
import { toChallenge, toLogin, toSession, toUser } from './wire.ts';

const DONE = { status: 204, body: undefined } as const;

export const identityRoutes = ({ users, sessions, logins, planOf }: Identity): Handlers<typeof contract.identity> => ({
  createUser: async ({ body, ...call }) => ({ status: 201, body: toUser(await users.create(body, { origin: originOf(call) }), planOf) }),
  login: async ({ body, ...call }) => {
    const outcome = await logins.login(body, originOf(call));
    return { status: 200, body: 'user' in outcome ? toLogin(outcome, planOf) : toChallenge(outcome) };
  },
  logout: async ({ principal, ...call }) => {
    await sessions.logout(principal, originOf(call));
    return { status: 204, body: undefined };
  },
  me: async ({ principal }) => ({ status: 200, body: toUser(await existing(users, principal.userId), planOf) }),
});

export const mfaRoutes = ({ logins, mfa, planOf }: Identity): Handlers<typeof contract.mfa> => ({
  login: async ({ body, ...call }) => ({ status: 200, body: toLogin(await logins.complete(body, originOf(call)), planOf) }),
  status: async ({ principal }) => ({ status: 200, body: await mfa.status(principal) }),
  begin: async ({ principal, ...call }) => {
    const { secret, otpauthUri, qrCode } = await mfa.begin(principal, originOf(call));
    return { status: 200, body: { secret, otpauth_uri: otpauthUri, qr_code: qrCode } };
  },
  confirm: async ({ principal, body, ...call }) => ({ status: 200, body: await mfa.confirm(principal, body, originOf(call)) }),
  disable: async ({ principal, body, ...call }) => ({ status: 200, body: await mfa.disable(principal, body, originOf(call)) }),
  reset: async ({ principal, params, ...call }) => {
    await mfa.reset(principal, params.user_id, originOf(call));
    return DONE;
  },
});

export const userRoutes = ({ roles, planOf }: Identity): Handlers<typeof contract.users> => ({
  list: async ({ query }) => ({ status: 200, body: mapPage(await roles.list(query), (user) => toUser(user, planOf)) }),
  setRole: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: toUser(await roles.set(principal, params.user_id, body.role, originOf(call)), planOf),
  }),
});

const ACCEPTED = { status: 202, body: { accepted: true } } as const;

export const accountRoutes = ({ profile, sessions, recovery, planOf }: Identity): Handlers<typeof contract.account> => ({
  update: async ({ principal, body, ...call }) => ({
    status: 200,
    body: toUser(await profile.update(principal, body, originOf(call)), planOf),
  }),
  changePassword: async ({ principal, body, ...call }) => {
    await profile.changePassword(principal, body, originOf(call));
    return DONE;
  },
  listSessions: async ({ principal, query }) => ({
    status: 200,
    body: mapPage(await sessions.list(principal, query), (session) => toSession(session, principal.sessionId)),
  }),
  endSession: async ({ principal, params, ...call }) => {
    await sessions.end(principal, params.session_id, originOf(call));
    return DONE;
  },
  verifyEmail: async ({ body, ...call }) => {
    await recovery.verifyEmail(body.token, originOf(call));
    return DONE;
  },
  resendVerification: async ({ body, ...call }) => {
    await recovery.ask('verify-email', body.email, originOf(call));
    return ACCEPTED;
  },
  requestPasswordReset: async ({ body, ...call }) => {
    await recovery.ask('reset-password', body.email, originOf(call));
    return ACCEPTED;
  },
  resetPassword: async ({ body, ...call }) => {
    await recovery.resetPassword(body.token, body.new_password, originOf(call));
    return DONE;
  },
  close: async ({ principal, body, ...call }) => {
    await profile.close(principal, body, originOf(call));
    return DONE;
  },
});

async function existing(users: Users, userId: string): Promise<User> {
  const user = await users.find(userId);
  // Deleted between the check of the credential and here: the credential is no longer one.
  if (!user) throw new Problem('invalid_credentials', 'The user of this credential no longer exists.');
  return user;
}
