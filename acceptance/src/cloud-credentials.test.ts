import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, isDone } from './chat.ts';
import { Gateway } from './gateway.ts';

/** The credentials of AWS and Google, by their own libraries, as the gateway is built. */

const NOVA = 'bedrock/amazon.nova-lite-v1:0';
const GEMINI = 'vertex/gemini-2.5-pro';

let upstream: FakeUpstream;
let metadata: Server;
let gateway: Gateway;
let key: string;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  metadata = createServer((incoming, response) => {
    response.writeHead(200, { 'metadata-flavor': 'Google', 'content-type': 'application/json' });
    const token = { access_token: 'ya29.of-the-machine', expires_in: 3600, token_type: 'Bearer' };
    response.end(JSON.stringify(incoming.url?.includes('/token') ? token : {}));
  });
  await new Promise<void>((resolve) => metadata.listen(0, '127.0.0.1', resolve));
  const base_url = new URL(upstream.url).origin;
  gateway = await Gateway.start({
    providers: [
      { name: 'bedrock', kind: 'bedrock', base_url, models: [NOVA] },
      { name: 'vertex', kind: 'vertex', base_url, project: 'my-project', models: [GEMINI] },
    ],
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'aws-secret-access-key',
      GCE_METADATA_HOST: `127.0.0.1:${(metadata.address() as AddressInfo).port}`,
      HOME: '/nonexistent',
    },
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
  metadata?.close();
});

test.each([
  [NOVA, /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, /],
  [GEMINI, /^Bearer ya29\.of-the-machine$/],
])('%s is asked with the credentials of the machine, plain and streamed', async (model, authorization) => {
  const request = { model, messages: [{ role: 'user', content: 'Say hello.' }] };
  expect((await ask(gateway, key, request)).status).toBe(200);
  expect(isDone(await ask(gateway, key, { ...request, stream: true }))).toBe(true);
  expect(upstream.requests.slice(-2).map(({ headers }) => headers.authorization)).toEqual([
    expect.stringMatching(authorization),
    expect.stringMatching(authorization),
  ]);
});
