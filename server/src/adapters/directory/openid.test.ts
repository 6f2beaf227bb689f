import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { MOST_ANSWER_BYTES } from './bounded-fetch.ts';
import { openIdDirectory } from './openid.ts';

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A directory that answers at one path with more than anybody reads, and in order at the others. */
async function directoryWith(large: string) {
  const filled = JSON.stringify({ filling: 'x'.repeat(MOST_ANSWER_BYTES) });
  const server = createServer(({ url }, res) => {
    res.setHeader('content-type', 'application/json');
    if (url === large) return res.end(filled);
    if (url === '/keys') return res.end('{"keys":[]}');
    return res.end(
      JSON.stringify({ issuer, authorization_endpoint: issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  return openIdDirectory({
    ...{ issuer, clientId: 'a', clientSecret: 'b', scopes: 'openid', groupsClaim: 'groups' },
    ...{ redirectUri: () => 'http://127.0.0.1:9/', afterLogout: () => 'http://127.0.0.1:9/' },
  });
}

const causes = (thrown: unknown): string => (thrown instanceof Error ? `${thrown.message} ${causes(thrown.cause)}` : '');
const refusalOf = (work: Promise<unknown>) => work.then(() => 'none', causes);
const TOO_LARGE = `larger than ${MOST_ANSWER_BYTES} bytes`;

test('what a directory says of itself is read up to 1 MiB', async () => {
  const directory = await directoryWith('/.well-known/openid-configuration');
  expect(await refusalOf(directory.begin())).toContain(TOO_LARGE);
});

test('what a directory answers to a code is read up to 1 MiB', async () => {
  const directory = await directoryWith('/token');
  const { state, nonce, codeVerifier, url } = await directory.begin();
  expect(url).toContain(`state=${state}`);
  const returned = new URL(`http://127.0.0.1:9/?code=c&state=${state}`);
  expect(await refusalOf(directory.complete(returned, { state, nonce, codeVerifier }))).toContain(TOO_LARGE);
});

test('keys of a directory are read up to 1 MiB', async () => {
  const directory = await directoryWith('/keys');
  const [head, payload] = [
    { alg: 'RS256', kid: 'k' },
    { iat: 1, jti: 'a' },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  expect(await refusalOf(directory.readLogout(`${head}.${payload}.AAAA`))).toContain(TOO_LARGE);
});
