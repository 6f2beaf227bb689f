import type { Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from './command.ts';
import { type Login, readLogin } from './credentials.ts';
import { notLoggedIn } from './failure.ts';
import { VERSION } from './version.ts';

const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';

/** What the list of sessions and the audit log show of this program. */
export const USER_AGENT = { 'user-agent': `tallygate-cli/${VERSION}` };

/** Which credential a command needs: any; a session before an API key, for what changes keys; or none. */
export type Wish = 'any' | 'session' | 'none';

type ConnectWorld = Omit<CommandWorld, 'connect' | 'jsonFields'>;

/** A client for the address and with the credential that options, environment and login give, in this order. */
export async function connect(world: ConnectWorld, wish: Wish = 'any'): Promise<Tallygate> {
  const login = await readLogin(world, world.profile);
  const baseUrl = addressOf(world, login);
  const credential = wish === 'none' ? { apiKey: null } : credentialFor(world, wish, baseUrl, login);
  // Loaded only now: `--help` and the shell's completion need none of it.
  const { Tallygate, TallygateError } = await import('@tallygate/sdk');
  /** Every answer of a gateway carries a request id: what has none comes from somebody else, and would be shown as nonsense. */
  const fetchFromGateway: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!answer.ok || answer.headers.has('x-request-id')) return answer;
    const { origin } = new URL(answer.url);
    throw new TallygateError(`What answers at ${origin} is not a Tallygate gateway.`, {
      status: answer.status,
      code: 'unexpected_response',
    });
  };
  return new Tallygate({ baseUrl, ...credential, headers: USER_AGENT, fetch: fetchFromGateway });
}

/** The gateway that is meant. */
const addressOf = ({ baseUrl, env }: ConnectWorld, login: Login | undefined): string =>
  baseUrl ?? env.baseUrl ?? login?.base_url ?? DEFAULT_BASE_URL;

function credentialFor({ env, profile }: ConnectWorld, wish: Wish, baseUrl: string, login: Login | undefined) {
  // A session goes only to the gateway that gave it: another address must not be able to collect it.
  const stored = login !== undefined && sameAddress(login.base_url, baseUrl) ? login.session_token : undefined;
  const sessionToken = env.sessionToken ?? stored;
  const { apiKey } = env;
  const session = sessionToken === undefined ? undefined : { sessionToken, apiKey: null };
  // The environment wins over the login, and in it the key over the session, except where keys are changed, which few API keys may do.
  const chosen = wish === 'session' ? (session ?? (apiKey && { apiKey })) : ((apiKey && { apiKey }) ?? session);
  if (!chosen) throw notLoggedIn(` at ${trimmed(baseUrl)}${profile === 'default' ? '' : ` as profile "${profile}"`}`);
  return chosen;
}

const sameAddress = (a: string, b: string): boolean => trimmed(a) === trimmed(b);
const trimmed = (address: string): string => address.replace(/\/+$/, '').replace(/\/v1$/, '');
