import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'tallygate', secret: 'the-secret-of-the-client' };

/** Somebody in the directory. */
export interface Person {
  readonly email: string;
  readonly name?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  /** By their login there, which is also their subject. */
  readonly people: Map<string, Person>;
  /** Walks a browser from an address of ours to the provider, logs in there, and comes back. @returns where it is sent in the end, unfollowed */
  signIn(start: string, login: string): Promise<URL>;
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
        ...{ post_logout_redirect_uris: redirectUris().map((uri) => new URL('/', uri).href) },
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email_verified: true, ...people.get(id) }),
    }),
    cookies: { keys: ['of-the-tests'] },
  });
  const callback = provider.callback();
  return {
    issuer,
    people,
    signIn: (start, login) => walk(start, login, issuer),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function walk(start: string, login: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let request: { url: string; form?: Record<string, string> } = { url: start };
  for (let step = 0; step < 20; step += 1) {
    const answer = await fetch(request.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(request.form && { method: 'POST', body: new URLSearchParams(request.form) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
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
