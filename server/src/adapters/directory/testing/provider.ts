import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'tallygate', secret: 'the-secret-of-the-client' };

/** Somebody in the directory. */
export interface Person {
  readonly email: string;
  readonly name?: string;
  readonly email_verified?: boolean | string;
  readonly groups?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  /** By their login there, which is also their subject. */
  readonly people: Map<string, Person>;
  /** Walks a browser from an address of ours to the provider, logs in there, and comes back. @returns where it is sent in the end, unfollowed */
  signIn(start: string, login: string): Promise<URL>;
  /** Logs somebody out at the provider, by its page: it tells the gateway behind the browser's back. */
  signOut(logoutUrl: string, login: string): Promise<void>;
  close(): Promise<void>;
}

/** A real OpenID provider on loopback. @param redirectUris of the client, known only once the gateway listens */
export async function startTestProvider(redirectUris: () => string[]): Promise<TestProvider> {
  const people = new Map<string, Person>();
  const server = createServer((req, res) => void callback(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris() },
        ...{
          backchannel_logout_uri: new URL('/sign-in/backchannel-logout', redirectUris()[0]).href,
          backchannel_logout_session_required: true,
        },
        ...{ post_logout_redirect_uris: redirectUris().map((uri) => new URL('/', uri).href) },
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email_verified: true, ...people.get(id) }),
    }),
    cookies: { keys: ['of-the-tests'] },
    fetch: (url: string | URL | Request, options: object | undefined) => fetch(url, toAnyAddress(options)),
  });
  const callback = provider.callback();
  const browsers = new Map<string, Cookies>();
  /** Everybody has one of their own, which stays logged in. */
  const browserOf = (login: string): Cookies => {
    const cookies = browsers.get(login) ?? new Map<string, string>();
    browsers.set(login, cookies);
    return cookies;
  };
  return {
    issuer,
    people,
    signIn: (start, login) => walk(start, login, { issuer, cookies: browserOf(login) }),
    signOut: (logoutUrl, login) => signOut(logoutUrl, browserOf(login)),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Without the provider's own dispatcher, which connects to no loopback address: the gateway of the tests is at one. */
function toAnyAddress(options: object | undefined): RequestInit {
  const { dispatcher: _dispatcher, ...rest } = Object(options);
  return rest;
}

type Cookies = Map<string, string>;

interface Browser {
  readonly issuer: string;
  readonly cookies: Cookies;
}

interface Browsed {
  readonly url: string;
  readonly form?: Record<string, string>;
}

async function browse({ url, form }: Browsed, cookies: Cookies): Promise<Response> {
  const answer = await fetch(url, {
    redirect: 'manual',
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  for (const cookie of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    cookies.set(name, value);
  }
  return answer;
}

/** The provider asks whether it is meant. */
async function signOut(logoutUrl: string, cookies: Cookies): Promise<void> {
  const page = await (await browse({ url: logoutUrl }, cookies)).text();
  const [, action] = /action="([^"]+)"/.exec(page) ?? [];
  const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
  if (!action || !xsrf) throw new Error(`No form to confirm: ${page.slice(0, 500)}`);
  await browse({ url: action, form: { xsrf, logout: 'yes' } }, cookies);
}

async function walk(start: string, login: string, { issuer, cookies }: Browser): Promise<URL> {
  let request: Browsed = { url: start };
  for (let step = 0; step < 20; step += 1) {
    const answer = await browse(request, cookies);
    const text = await answer.text();
    const location = answer.headers.get('location');
    if (location !== null) {
      const next = new URL(location, request.url);
      // Neither at the provider nor on the way to it or back: there the browser is at the end.
      if (next.origin !== issuer && next.origin !== new URL(start).origin) return next;
      request = { url: next.href };
    } else request = { url: request.url.replace(/\/?$/, ''), form: formOf(text, login) };
  }
  throw new Error('The browser goes round in circles');
}

/** The forms of the provider's own pages: who it is, and what the client may know. */
function formOf(page: string, login: string): Record<string, string> {
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
  if (prompt === undefined) throw new Error(`No form to fill in: ${page.slice(0, 500)}`);
  return prompt === 'login' ? { prompt, login, password: 'any' } : { prompt };
}
