import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Tallygate, UserResponse } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

const LIMIT_MS = 10 * 60_000;
const PAGE = '<!doctype html><meta charset="utf-8"><title>Tallygate</title><p>You can close this page and go back to the terminal.</p>';

/**
 * Signs in with the company's directory: the browser comes back to a port of this computer (RFC 8252, 7.3), and the code that it brings is
 * worth nothing without the verifier, which stays here.
 */
export async function logInByDirectory(
  world: CommandWorld,
  client: Tallygate,
  { opens }: { readonly opens: boolean },
): Promise<UserResponse> {
  const { directory } = await client.sso.methods({ signal: world.signal });
  if (directory === null)
    throw new Failure(
      'not_configured',
      `${client.baseUrl} has no directory to sign in with.`,
      EXIT.failure,
      'Log in with `tallygate login`.',
    );
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const { server, answer } = await listenForAnswer(state, world.signal);
  try {
    const { port } = Object(server.address());
    const page = new URL(directory.login_url);
    page.searchParams.set('redirect_uri', `http://127.0.0.1:${port}/`);
    page.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
    page.searchParams.set('state', state);
    const isOpen = opens && (await world.openPage(page.href));
    world.err.write(
      isOpen ? `Sign in with ${directory.name} in the browser.\n` : `Open this page to sign in with ${directory.name}:\n${page.href}\n`,
    );
    const code = await answer;
    return await client.sso.token({ code, code_verifier: verifier }, { signal: world.signal });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

interface Listening {
  readonly server: Server;
  readonly answer: Promise<string>;
}

async function listenForAnswer(state: string, signal: AbortSignal): Promise<Listening> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<string>();
  // Nobody awaits it while the page is opened.
  answer.catch(() => {});
  const server = createServer((req, res) => {
    const { searchParams } = new URL(req.url ?? '/', 'http://127.0.0.1');
    // Anything else that asks here is not the browser that we have sent.
    if (searchParams.get('state') !== state) return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(PAGE);
    const code = searchParams.get('code');
    if (code !== null) resolve(code);
    else reject(new Failure('access_denied', searchParams.get('error_description') ?? 'The directory refused.', EXIT.authenticationNeeded));
  });
  AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]).addEventListener('abort', () =>
    reject(new Failure('expired', 'Nobody has signed in.', EXIT.authenticationNeeded, 'Begin again: `tallygate login --sso`.')),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { server, answer };
}
