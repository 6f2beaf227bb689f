import type { LoginMfaRequiredResponse, SessionResponse, UserResponse } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import { type PlanOfAccount, planIdOf } from './account.ts';
import type { Challenge } from './mfa/login-challenge.ts';
import type { Session } from './session.ts';
import type { SignedIn } from './sessions.ts';
import type { User } from './user.ts';

export const toUser = (user: User, planOf: PlanOfAccount): UserResponse => ({
  user_id: user.id,
  account_id: user.account.id,
  email: user.email,
  name: user.name ?? null,
  role: user.role,
  account_role: user.accountRole,
  email_verified: Boolean(user.emailVerifiedAt),
  mfa_enabled: user.hasSecondFactor(),
  plan: planIdOf(planOf, user.account),
  stores_content: user.account.storesContent,
  created_at: rfc3339(user.createdAt),
});

export const toLogin = ({ user, token, expiresAt }: SignedIn, planOf: PlanOfAccount): UserResponse => ({
  ...toUser(user, planOf),
  session: { token, expires_at: rfc3339(expiresAt) },
});

export const toChallenge = ({ token, expiresAt, hasPasskey }: Challenge): LoginMfaRequiredResponse => ({
  mfa_required: true,
  challenge_token: token,
  expires_at: rfc3339(expiresAt),
  methods: ['totp', 'recovery_code', ...(hasPasskey ? (['passkey'] as const) : [])],
});

export const toSession = (session: Session, currentId: string): SessionResponse => ({
  session_id: session.id,
  current: session.id === currentId,
  created_at: rfc3339(session.createdAt),
  last_used_at: rfc3339(session.lastUsedAt),
  expires_at: rfc3339(session.expiresAt()),
  ip_address: session.ipAddress ?? null,
  user_agent: session.userAgent ?? null,
});
