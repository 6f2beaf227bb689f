import type { ErrorEntry } from './error-entry.ts';

/** Of who administers an account: programs, and the company's directory. */
export const MANAGEMENT_ERRORS = {
  management_key_not_allowed: {
    status: 403,
    title: 'A management key cannot do this',
    type: 'permission_error',
    retryable: false,
    help: 'Management keys (`tg_mgmt_…`) administer an account. They run no model, read nothing that was sent to one, and change neither a person’s own login nor other management keys. Use an API key for inference, and a session for the rest.',
  },
  address_not_allowed: {
    status: 403,
    title: 'The management key is not used from here',
    type: 'permission_error',
    retryable: false,
    help: 'The management key is right, but it works from certain addresses only (`allowed_addresses`), and the request came from none of them. Behind a proxy, the operator of the gateway sets `TRUSTED_PROXIES`, so that it sees the addresses of callers.',
  },
  directory_login_required: {
    status: 403,
    title: 'Log in with the directory',
    type: 'permission_error',
    retryable: false,
    help: 'The account has switched password login off: its members log in with the company’s directory. `GET /v1/users/login/methods` says where, and `tallygate login --sso` does it. Owners log in with a password all the same.',
  },
} as const satisfies Record<string, ErrorEntry>;
