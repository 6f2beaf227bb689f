import { randomBytes } from 'node:crypto';
import { formatKey, newLookupId, newSecret, parseKey } from '../../../server/src/access/keys/key-secret.ts';
import { type Comparison, compare, type Pair } from '../comparison.ts';
import { Gateway } from '../gateway.ts';
import { HttpConnection } from '../http-connection.ts';
import type { Stage } from '../stage.ts';
import { Tally } from '../tally.ts';

/** One question that must not be answered by how long it takes: is there such a user, is there such a key? */
interface Probe {
  readonly what: string;
  /** What both have to be answered with; any other answer, a throttled one above all, ends the run. */
  readonly status: number;
  readonly pairs: number;
  readonly longestMs: number;
  /** A difference below this does not matter, milliseconds. */
  readonly boundMs: number;
  /** Both requests are sent once, unmeasured, before they are measured. */
  readonly isHot: boolean;
  /** Two requests that differ in nothing but whether what they name exists; never used before. */
  next(): { readonly known: string; readonly unknown: string };
}

export interface Finding extends Comparison {
  readonly what: string;
  readonly boundMs: number;
  readonly verdict: 'indistinguishable' | 'too noisy to tell' | 'distinguishable';
}

const SIGNIFICANT_P = 0.01;
/** The first pairs meet code that is not compiled yet and connections that are not open. */
const WARM_UP_PAIRS = 10;
const LOGIN_PAIRS = 300;
const RESET_PAIRS = 500;
const KEY_PAIRS = 100;
const KEYS_AT_ONCE = 8;
/** All requests come from the bench itself; as a proxy it may say where from, and each comes from somewhere else. */
const PROXY = '127.0.0.1';
/** No request of these gets as far as a provider: port 9 discards. */
const NOBODY = 'http://127.0.0.1:9';
const NO_PROVIDERS = { instant: NOBODY, paced: NOBODY, long: NOBODY };

/** Asks a gateway on a fresh data directory about what exists and what does not, and compares how long it takes to answer. */
export async function timing(stage: Stage, onProgress: (what: string) => void): Promise<Finding[]> {
  const gateway = await Gateway.start(stage, NO_PROVIDERS, { TRUSTED_PROXIES: PROXY });
  onProgress('users and keys');
  const probes = await makeProbes(gateway);
  const connection = await HttpConnection.open(gateway.origin);
  const findings: Finding[] = [];
  for (const probe of probes) {
    onProgress(probe.what);
    const comparison = compare(await measure(probe, connection, gateway.origin));
    findings.push({ what: probe.what, boundMs: probe.boundMs, ...comparison, verdict: verdictOn(comparison, probe.boundMs) });
  }
  connection.close();
  await gateway.disconnect();
  return findings;
}

async function makeProbes(gateway: Gateway): Promise<Probe[]> {
  const addresses = (count: number) => Array.from({ length: count + WARM_UP_PAIRS }, newAddress);
  const loginUsers = addresses(LOGIN_PAIRS);
  const resetUsers = addresses(RESET_PAIRS);
  await gateway.addUsers([...loginUsers, ...resetUsers]);
  const hotKey = (await gateway.newKey()).key;
  const coldKeys = await newKeys(gateway, KEY_PAIRS + WARM_UP_PAIRS);
  const login = (email: string) => post('/v1/users/login', { email, password: 'not the password of anybody' });
  const reset = (email: string) => post('/v1/users/password-reset', { email });
  return [
    {
      ...{ what: 'login, wrong password', status: 401, pairs: LOGIN_PAIRS, longestMs: 25_000, boundMs: 15, isHot: false },
      next: () => ({ known: login(taken(loginUsers)), unknown: login(newAddress()) }),
    },
    {
      ...{ what: 'password reset', status: 202, pairs: RESET_PAIRS, longestMs: 8_000, boundMs: 4, isHot: false },
      next: () => ({ known: reset(taken(resetUsers)), unknown: reset(newAddress()) }),
    },
    {
      ...{ what: 'API key, wrong secret, cold', status: 401, pairs: KEY_PAIRS, longestMs: 8_000, boundMs: 5, isHot: false },
      next: () => ({ known: models(withOtherSecret(taken(coldKeys))), unknown: models(unknownKey()) }),
    },
    {
      ...{ what: 'API key, wrong secret, hot', status: 401, pairs: KEY_PAIRS, longestMs: 10_000, boundMs: 5, isHot: true },
      next: () => ({ known: models(withOtherSecret(hotKey)), unknown: models(unknownKey()) }),
    },
    {
      ...{ what: 'API key, hot and cold', status: 401, pairs: KEY_PAIRS, longestMs: 8_000, boundMs: 5, isHot: false },
      next: () => ({ known: models(withOtherSecret(hotKey)), unknown: models(unknownKey()) }),
    },
  ];
}

/** One request at a time, so that nothing but the request itself is in its time. */
async function measure({ status, pairs, longestMs, isHot, next }: Probe, connection: HttpConnection, origin: string): Promise<Pair[]> {
  const tally = new Tally();
  const ask = async (request: string): Promise<number> => {
    const answer = await connection.send({ origin, bytes: Buffer.from(request), tally });
    if (answer.status !== status) throw new Error(`Expected ${status}, got ${answer.status}: ${answer.body.toString().slice(0, 400)}`);
    return answer.totalMs;
  };
  const askBoth = async ({ known, unknown }: ReturnType<Probe['next']>): Promise<Pair> => {
    if (Math.random() < 0.5) return { known: await ask(known), unknown: await ask(unknown) };
    const second = await ask(unknown);
    return { known: await ask(known), unknown: second };
  };
  const measured: Pair[] = [];
  const deadline = performance.now() + longestMs;
  for (let round = 0; round < pairs + WARM_UP_PAIRS && performance.now() < deadline; round += 1) {
    const requests = next();
    if (isHot) await askBoth(requests);
    const pair = await askBoth(requests);
    if (round >= WARM_UP_PAIRS) measured.push(pair);
  }
  return measured;
}

function verdictOn({ p, interval: [from, to] }: Comparison, boundMs: number): Finding['verdict'] {
  if (p <= SIGNIFICANT_P) return 'distinguishable';
  return from > -boundMs && to < boundMs ? 'indistinguishable' : 'too noisy to tell';
}

async function newKeys(gateway: Gateway, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const made = await Promise.all(Array.from({ length: KEYS_AT_ONCE }, () => gateway.newKey()));
    keys.push(...made.map(({ key }) => key));
  }
  return keys;
}

function withOtherSecret(key: string): string {
  const parts = parseKey(key);
  if (!parts) throw new Error('The gateway has made a key that is none');
  return formatKey({ ...parts, secret: newSecret() });
}

const unknownKey = (): string => formatKey({ kind: 'live', lookupId: newLookupId(), secret: newSecret() });
const newAddress = (): string => `${randomBytes(8).toString('hex')}@example.com`;

function taken(from: string[]): string {
  const one = from.pop();
  if (one === undefined) throw new Error('Every user or key that was made has been asked for');
  return one;
}

const models = (key: string): string => `${head('GET', '/v1/models')}Authorization: Bearer ${key}\r\n\r\n`;

function post(path: string, body: object): string {
  const json = JSON.stringify(body);
  return `${head('POST', path)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** A new caller each time, of the same length: the throttle counts by caller. */
function head(method: string, path: string): string {
  const group = () => (0x1000 + Math.floor(Math.random() * 0xf000)).toString(16);
  const caller = `2001:${[group(), group(), group()].join(':')}::1`;
  return `${method} ${path} HTTP/1.1\r\nHost: ${PROXY}\r\nX-Forwarded-For: ${caller}\r\n`;
}
