import { readFile } from 'node:fs/promises';
import type { AuthClient } from 'google-auth-library';
import type { Clock } from '../../../kernel/clock.ts';
import { isRecord, jsonIn } from '../json-value.ts';
import { type Expiring, Renewed } from '../renewed.ts';

export type TokenSource = () => Promise<Expiring<string>>;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** Well ahead of the time at which a token is fetched anew here: the library is to have another one then. */
const EAGER_MS = 6 * 60_000;

/**
 * Google's own library: the key file of a service account, else its application default credentials (the file of
 * `GOOGLE_APPLICATION_CREDENTIALS`, gcloud's login, the metadata server). Loaded when the first token is fetched.
 */
export function accessTokens(keyFile: string | undefined): TokenSource {
  let opened: Promise<() => Promise<Expiring<string>>> | undefined;
  const open = async () => {
    const client = await clientOf(keyFile);
    return async () => {
      const { token } = await client.getAccessToken();
      if (!token) throw new Error('Google gave no access token');
      return { value: token, expiresAtMs: client.credentials.expiry_date ?? undefined };
    };
  };
  return async () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return (await opened)();
  };
}

async function clientOf(keyFile: string | undefined): Promise<AuthClient> {
  const { GoogleAuth, JWT } = await import('./google-auth.ts');
  const common = { eagerRefreshThresholdMillis: EAGER_MS };
  if (keyFile === undefined) return new GoogleAuth({ scopes: SCOPE, clientOptions: common }).getClient();
  const key = jsonIn(await readFile(keyFile, 'utf8'));
  // Others name programs and addresses that tokens are fetched by: they are Google's own affair, in its own variable.
  if (!isRecord(key) || key['type'] !== 'service_account')
    throw new Error(`${keyFile} is no key of a service account: name other credentials in GOOGLE_APPLICATION_CREDENTIALS`);
  return new JWT({
    ...common,
    scopes: SCOPE,
    email: String(key['client_email']),
    key: String(key['private_key']),
    keyId: String(key['private_key_id']),
  });
}

export const renewedTokens = (source: TokenSource, clock: Clock): Renewed<string> => new Renewed({ fetch: source, clock });
