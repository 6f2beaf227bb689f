/** What `--json` can pick of a user. */
export const USER_FIELDS = ['user_id', 'account_id', 'email', 'name', 'role', 'email_verified', 'mfa_enabled', 'plan', 'created_at'];
