import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Post, PostError, Posted, WebhookSender } from './port.ts';
import { type AddressCheck, networksOf, publicAddresses } from './public-addresses.ts';

/** For the whole exchange. */
const TIMEOUT_MS = 10_000;
/** Nobody reads the answer: it is taken only so that the connection can be used again. */
const MOST_ANSWER_BYTES = 16 * 1024;
const MOST_HEADER_BYTES = 16 * 1024;
const IDLE_MS = 4_000;

interface GuardOptions {
  /** Addresses and networks that are sent to beside those of the public internet, and without TLS. */
  readonly allowed: readonly string[];
  readonly timeoutMs?: number;
  /** Resolves names; as `lookup` of `node:dns`. */
  readonly lookup?: LookupFunction;
}

class AddressRefused extends Error {}

export function openGuardedHttp({ allowed, timeoutMs = TIMEOUT_MS, lookup = systemLookup }: GuardOptions): WebhookSender {
  const [isPublic, isAllowed] = [publicAddresses(allowed), networksOf(allowed)];
  const agentOf = (check: AddressCheck): Agent =>
    new Agent({
      connect: { lookup: guardedLookup(lookup, check), timeout: timeoutMs },
      ...{ connections: 8, pipelining: 0, keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS, maxHeaderSize: MOST_HEADER_BYTES },
      ...{ headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
    });
  // What is not encrypted stays in networks that the operator named.
  const agents = { 'https:': agentOf(isPublic), 'http:': agentOf(isAllowed) };
  const refusalOf = (url: URL): string | undefined => {
    const check = url.protocol === 'http:' ? isAllowed : isPublic;
    const address = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0) return check(address) ? undefined : 'must not be an address of a private network';
    return url.protocol === 'http:' && allowed.length === 0 ? 'must begin with https://' : undefined;
  };
  return {
    refusalOf,
    async post(post) {
      const started = performance.now();
      const answered = refusalOf(post.url) === undefined ? await exchange(agents, post, timeoutMs) : REFUSED;
      return { ...answered, durationMs: Math.round(performance.now() - started) };
    },
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
    },
  };
}

const REFUSED = { statusCode: null, error: 'address_refused' } as const;

/**
 * The connection is made to what this answers and to nothing else, so a name that leads elsewhere a moment later does not matter. Of several
 * addresses none may be refused: which one is connected to is not ours to choose.
 */
const guardedLookup =
  (lookup: LookupFunction, check: AddressCheck): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      // With an error Node hands over nothing else, whatever its types say.
      const addresses = error || typeof found === 'string' ? [] : found;
      const refused = addresses.find(({ address }) => !check(address));
      const failure = error ?? (refused ? new AddressRefused(`${hostname} leads to ${refused.address}`) : null);
      const [first] = addresses;
      if (failure || !first) callback(failure ?? new Error(`${hostname} has no address`), []);
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

type Agents = Readonly<Record<string, Agent>>;

async function exchange(agents: Agents, { url, headers, body }: Post, timeoutMs: number): Promise<Omit<Posted, 'durationMs'>> {
  const agent = agents[url.protocol];
  if (!agent) return REFUSED;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { origin, pathname, search } = url;
    const answer = await agent.request({ origin, path: pathname + search, method: 'POST', headers: { ...headers }, body, signal });
    // The status is what counts, also where the rest of the answer does not come.
    await answer.body.dump({ limit: MOST_ANSWER_BYTES, signal }).catch(() => {});
    return { statusCode: answer.statusCode, error: errorOf(answer) };
  } catch (failure) {
    return { statusCode: null, error: faultOf(failure, signal) };
  }
}

function errorOf({ statusCode }: Pick<Dispatcher.ResponseData, 'statusCode'>): PostError | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400 ? 'redirected' : 'rejected';
}

function faultOf(failure: unknown, signal: AbortSignal): PostError {
  if (signal.aborted) return 'timed_out';
  for (let cause = failure; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return 'address_refused';
    if ('code' in cause && ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'].includes(String(cause.code)))
      return 'timed_out';
  }
  return 'connection_failed';
}
