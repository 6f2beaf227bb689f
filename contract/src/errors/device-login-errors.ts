import type { ErrorEntry } from './error-entry.ts';

/** Of logins that are approved in a browser, under the names of RFC 8628. */
export const DEVICE_LOGIN_ERRORS = {
  authorization_pending: {
    status: 400,
    title: 'Nobody has decided yet',
    type: 'invalid_request_error',
    retryable: true,
    help: 'The person has not approved the login in a browser yet (RFC 8628). Ask again after `Retry-After` seconds.',
  },
  slow_down: {
    status: 400,
    title: 'Asked too soon',
    type: 'invalid_request_error',
    retryable: true,
    help: 'The login in a browser is not decided yet, and the program asks too often: from now on it waits five seconds longer between two questions (RFC 8628). `Retry-After` says how long.',
  },
  access_denied: {
    status: 400,
    title: 'The login was turned away',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The person who was asked in the browser did not approve this login. Begin another one if that was a mistake.',
  },
  expired_token: {
    status: 400,
    title: 'The device code is not valid any more',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The device code is mistyped, was used, is older than ten minutes, or what it was approved with has changed since, such as the password. Begin the login again.',
  },
} as const satisfies Record<string, ErrorEntry>;
