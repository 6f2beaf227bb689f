import type { ErrorEntry } from './error-entry.ts';

/** Of logins in more than one step, and of what takes a fresh one. */
export const LOGIN_ERRORS = {
  invalid_mfa_code: {
    status: 401,
    title: 'Code not accepted',
    type: 'authentication_error',
    retryable: false,
    help: 'The code of the second factor is wrong or was used before, at a login or where a code confirms a change. Wait for the next code of the app, check its clock, or use a recovery code. A session that the request carries goes on.',
  },
  challenge_expired: {
    status: 401,
    title: 'The login has to start again',
    type: 'authentication_error',
    retryable: false,
    help: 'The challenge is unknown, was used, is older than five minutes or has taken its five tries. Begin again: with the password, or with the passkey.',
  },
  invalid_passkey: {
    status: 401,
    title: 'Passkey not accepted',
    type: 'authentication_error',
    retryable: false,
    help: 'The passkey is not known here, belongs to somebody else, was made for another address, has not verified its user, or its counter shows that there is a copy of it. Log in with the password, and see the list of your passkeys. A session that the request carries goes on.',
  },
  recent_login_required: {
    status: 403,
    title: 'A fresh login is required',
    type: 'permission_error',
    retryable: false,
    help: 'To sign a program in, and to add or remove a passkey, takes a session that a person opened with all factors within the last fifteen minutes. Log in again; nothing was changed.',
  },
} as const satisfies Record<string, ErrorEntry>;
