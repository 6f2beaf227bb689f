import * as z from 'zod';
import type { SignIns } from '../../access/identity/index.ts';
import { SignInRefused } from '../../adapters/directory/port.ts';
import { originOf } from '../../audit/index.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { PeerAddress } from './peer-address.ts';
import { shownIdOf } from './request-ids.ts';
import type { ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';

export const SIGN_IN_RETURN = '/sign-in/callback';

interface SignInApiDeps {
  readonly signIns: SignIns;
  readonly publicUrl: () => string;
  /** Of the web front end, where there is one. */
  readonly webUrl: string | undefined;
  readonly peerAddress: PeerAddress;
  readonly log: Log;
}

const BODY = { maxBytes: 16_384, timeoutMs: 10_000 };
/** RFC 7636, 4.2: base64url of a SHA-256. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
/** RFC 8252, 7.3: a program on the caller's own computer, at any port. */
const LOOPBACK = /^(?:127\.0\.0\.1|\[::1\])$/;

/**
 * Sign-in with the company's directory, as browsers go: to the directory, back from it, and on to the page or program that began. No cookie is
 * involved: the session is taken by whoever has the verifier of the challenge that began.
 */
export function signInRoutes(deps: SignInApiDeps): ServedRoute[] {
  const route = (method: 'GET' | 'POST', path: string, answer: ServedRoute['answer']): ServedRoute => ({
    method,
    path,
    kind: 'site',
    answer,
  });
  return [
    route('GET', '/sign-in', async (exchange) =>
      redirect(exchange, await deps.signIns.begin(requestOf(exchange, deps), originIn(exchange, deps))),
    ),
    route('GET', SIGN_IN_RETURN, async (exchange) => {
      const returned = new URL(exchange.req.url ?? '', deps.publicUrl());
      redirect(exchange, await deps.signIns.returned(returned, originIn(exchange, deps)));
    }),
    route('POST', '/sign-in/backchannel-logout', async (exchange) => endElsewhere(exchange, deps)),
  ];
}

function requestOf({ req: { url = '' } }: Exchange, { publicUrl, webUrl }: SignInApiDeps) {
  const query = queryParamsOf(url);
  const returnTo = query.get('redirect_uri') ?? '';
  const codeChallenge = query.get('code_challenge') ?? '';
  const origins = [publicUrl(), webUrl].flatMap((address) => (address === undefined ? [] : [new URL(address).origin]));
  if (!isReturnAddress(returnTo, origins))
    throw invalid('redirect_uri', 'must be a page of this gateway or of its web front end, or http://127.0.0.1 with a port');
  if (!CHALLENGE.test(codeChallenge)) throw invalid('code_challenge', 'must be the SHA-256 of a verifier in base64url (RFC 7636)');
  return { returnTo, codeChallenge, returnState: query.get('state')?.slice(0, 500) };
}

/** An address of somebody else would be handed a code. */
function isReturnAddress(text: string, origins: readonly string[]): boolean {
  if (!URL.canParse(text) || text.length > 1_000) return false;
  const { origin, protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return origins.includes(origin) || (protocol === 'http:' && LOOPBACK.test(hostname));
}

const Form = z.object({ logout_token: z.string().min(1) });

async function endElsewhere(exchange: Exchange, { signIns, log }: SignInApiDeps): Promise<void> {
  const bytes = await readBody(exchange.req, BODY);
  const form = Form.safeParse(Object.fromEntries(new URLSearchParams(bytes.toString())));
  if (!form.success) throw invalid('logout_token', 'is required');
  try {
    const ended = await signIns.endedElsewhere(form.data.logout_token);
    log.info({ requestId: shownIdOf(exchange), ended }, 'the directory has ended sessions');
  } catch (error) {
    if (error instanceof SignInRefused) throw new Problem('invalid_token', 'The logout token is not valid.', { because: error.message });
    throw error;
  }
  exchange.res.writeHead(200, { 'cache-control': 'no-store' }).end();
}

const originIn = (exchange: Exchange, { peerAddress }: SignInApiDeps) =>
  originOf({
    peer: { address: peerAddress(exchange.req), userAgent: exchange.req.headers['user-agent'] ?? null },
    requestId: shownIdOf(exchange),
  });

function redirect({ res }: Exchange, location: string): void {
  res.writeHead(302, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end();
}

const invalid = (name: string, msg: string): Problem => invalidInput([{ loc: ['query', name], msg, type: 'invalid' }]);
