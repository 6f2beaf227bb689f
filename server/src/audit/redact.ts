/** Names of fields, at any depth, whose value must not be stored. `key_id` and `key_name` are not among them. */
const SECRET_NAME = /password|secret|token|credential|recovery_code|authorization|^(key|code|api_key|plain_key)$/i;
/** What opens something, by its looks: API keys beyond their public part, session, challenge and mail tokens. */
const SECRET_TEXT = /\b(tg_(?:live|test|mgmt)_[0-9A-Za-z]{12})[0-9A-Za-z]{8,}|\b(tg[a-z]_)[\w-]{20,}/g;
/** A number behind the sign is no domain but the version of a plan: `pro@1`. */
const E_MAIL = /([^\s@<>"'])[^\s@<>"']*@(?!\d+(?:[\s<>"']|$))([^\s@<>"']+)/g;

/** Looser than in changes: any text with the prefix of our credentials, since a header is the caller's own text. */
const CREDENTIAL_LIKE = /(tg(?:_live_|_test_|_mgmt_|[a-z]_))[\w-]+/gi;

/** The storable form of a `User-Agent`: people paste tokens into the wrong header. */
export const redactUserAgent = (userAgent: string): string => userAgent.replaceAll(CREDENTIAL_LIKE, '$1…').replaceAll(E_MAIL, '$1…@$2');

/** The permanently storable form of an entry's changes: no secret, and of e-mail addresses the first letter and the domain. */
export const redactChanges = (changes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(changes).map(([name, inner]) => [name, redactNamed(name, inner)]));

function redact(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(SECRET_TEXT, (_all, key, token) => `${key ?? token}…`).replaceAll(E_MAIL, '$1…@$2');
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(redact);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return value;
  return redactChanges({ ...value });
}

const redactNamed = (name: string, value: unknown): unknown => (SECRET_NAME.test(name) ? '[redacted]' : redact(value));
