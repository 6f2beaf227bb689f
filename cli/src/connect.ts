import type { Tallygate } from '@tallygate/sdk';
import { type KeptLogin, readKeptLogin, readLogin } from './credentials.ts';
import { EXIT } from './exit-codes.ts';
import { Failure, notLoggedIn } from './failure.ts';
import { VERSION } from './version.ts';
import type { World } from './world.ts';

const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';

/** What the list of sessions and the audit log show of this program. */
export const USER_AGENT = { 'user-agent': `tallygate-cli/${VERSION}` };

/** Which credential a command needs: any; a session before an API key, for what changes keys; or none. */
export type CredentialNeed = 'any' | 'session' | 'none';

/** The outside, and which gateway is meant. */
interface ConnectWorld extends World {
  readonly profile: string;
  /** Of `--base-url`. */
  readonly baseUrl: string | undefined;
}

/** A client for the address and with the credential that options, environment and login give, in this order. */
export async function connect(world: ConnectWorld, need: CredentialNeed = 'any'): Promise<Tallygate> {
  const login = await readKeptLogin(world, world.profile);
  const baseUrl = addressOf(world, login);
  const credential = need === 'none' ? { apiKey: null } : await credentialFor(world, need, baseUrl, login);
  // Loaded only now: `--help` and the shell's completion need none of it.
  const { Tallygate, TallygateError } = await import('@tallygate/sdk');
  let hasAnswered = false;
  /** Every answer of a gateway carries a request id: what has none comes from somebody else, and would be shown as nonsense. */
  const fetchFromGateway: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init).catch((error: unknown) => {
      // A gateway that has answered is being restarted, and worth trying again; one that has not is not running.
      if (hasAnswered || !isRefusedHere(error, baseUrl)) throw error;
      throw new TallygateError(`Nothing listens at ${new URL(baseUrl).origin}.`, { code: 'connection_failed', cause: error });
    });
    hasAnswered = true;
    if (!answer.ok || answer.headers.has('x-request-id')) return answer;
    const { origin } = new URL(answer.url);
    throw new TallygateError(`What answers at ${origin} is not a Tallygate gateway.`, {
      status: answer.status,
      code: 'unexpected_response',
    });
  };
  const logStore = await world.openLogStore();
  return new Tallygate({ baseUrl, ...credential, headers: USER_AGENT, fetch: fetchFromGateway, logStore });
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether the address is one of this computer. */
export const isOfThisComputer = (address: string): boolean => LOOPBACK.test(new URL(address).hostname);

/** This computer itself says that nothing listens there: not a network that may be better in a moment. */
const isRefusedHere = (error: unknown, baseUrl: string): boolean =>
  isOfThisComputer(baseUrl) && error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';

/** The gateway to use. An invalid address is reported before anything else: "not logged in at foo" would lead nowhere. */
export function addressOf({ baseUrl, env }: Pick<ConnectWorld, 'baseUrl' | 'env'>, login: KeptLogin | undefined): string {
  if (baseUrl !== undefined) return requireAddress('--base-url', baseUrl);
  if (env.baseUrl !== undefined) return requireAddress('TALLYGATE_BASE_URL', env.baseUrl);
  return login?.base_url ?? DEFAULT_BASE_URL;
}

/** The text itself is not shown: it may be a key that was set in the wrong place. */
function requireAddress(name: string, text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  // `localhost:8787` and `gateway.example.com/v1` lack only their beginning.
  const [, host] = /^((?:localhost|\[[\da-f:]+\]|[a-z\d-]+(?:\.[a-z\d-]+)+)(?::\d+)?)(?:\/.*)?$/i.exec(text) ?? [];
  const nextStep =
    host === undefined
      ? 'Give one such as https://gateway.example.com.'
      : `Did you mean ${/^(localhost|127\.|\[::1\])/.test(host) ? 'http' : 'https'}://${host}?`;
  throw new Failure('bad_address', `${name} must be an http or https address.`, EXIT.usage, nextStep);
}

const MALFORMED_STEP = 'Copy it again, in one line; `tallygate keys create` makes another key.';

/** @throws Failure for what cannot be a credential; it is not shown */
function requireCredential(name: Source, text: string): string {
  const credential = text.trim();
  if (/^[\x21-\x7e]+$/.test(credential)) return credential;
  const message = `${name} is malformed: it has a line break, a space or another character that no credential has.`;
  throw new Failure('malformed_credential', message, EXIT.authenticationNeeded, MALFORMED_STEP);
}

/** Where a credential comes from; its words are what `tallygate doctor` says. */
export type Source = 'TALLYGATE_API_KEY' | 'TALLYGATE_SESSION_TOKEN' | 'login';

/**
 * The environment wins over the login, and in it the key over the session, except where keys are changed, which few API keys may do and management keys
 * may.
 * A session goes only to the gateway that gave it: another address must not be able to collect it.
 */
export function sourceFor(
  { env }: Pick<ConnectWorld, 'env'>,
  need: CredentialNeed,
  baseUrl: string,
  login: KeptLogin | undefined,
): Source | undefined {
  const key = env.apiKey === undefined ? undefined : 'TALLYGATE_API_KEY';
  // A management key is accepted wherever a session is.
  if (env.apiKey?.startsWith('tg_mgmt_')) return key;
  const stored = login !== undefined && sameAddress(login.base_url, baseUrl) ? 'login' : undefined;
  const session = env.sessionToken === undefined ? stored : 'TALLYGATE_SESSION_TOKEN';
  return need === 'session' ? (session ?? key) : (key ?? session);
}

async function credentialFor(world: ConnectWorld, need: CredentialNeed, baseUrl: string, login: KeptLogin | undefined) {
  const { env, profile } = world;
  const source = sourceFor(world, need, baseUrl, login);
  if (env.apiKey !== undefined && source === 'TALLYGATE_API_KEY') return { apiKey: requireCredential(source, env.apiKey) };
  // The keyring is asked only when its answer is needed.
  const sessionToken = source === 'login' ? (await readLogin(world, profile))?.session_token : env.sessionToken;
  if (sessionToken === undefined) throw notLoggedIn(` at ${trimmed(baseUrl)}${profile === 'default' ? '' : ` as profile "${profile}"`}`);
  return { sessionToken: requireCredential(source ?? 'login', sessionToken), apiKey: null };
}

const sameAddress = (a: string, b: string): boolean => trimmed(a) === trimmed(b);
const trimmed = (address: string): string => address.replace(/\/+$/, '').replace(/\/v1$/, '');
