import { generateKeyPairSync, hash, sign } from 'node:crypto';
import type { ReceiptResponse } from '@tallygate/contract';
import { keyThumbprint, verifyReceipt } from '@tallygate/receipts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MovableClock, newKey, send, signUp } from './testing/account-api.ts';
import { CHAT, chat, type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

const START = Date.UTC(2026, 10, 21, 12);
const CREATED = START / 1000;
const PATH = '/v1/chat/completions';
const BODY = JSON.stringify(CHAT);
const clock = new MovableClock();
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const { x: PUBLIC_KEY = '' } = publicKey.export({ format: 'jwk' });
let world: InferenceWorld;
let owner: Awaited<ReturnType<typeof signUp>>;
let key: Awaited<ReturnType<typeof newKey>>;

beforeAll(async () => {
  clock.stoppedAtMs = START;
  world = await openInferenceWorld(clock);
  owner = await signUp(world.account);
});
beforeEach(async () => {
  clock.stoppedAtMs = START;
  key = await keyWith({ signing_public_key: PUBLIC_KEY, require_signature: true });
});
afterAll(() => world?.close());

const keyWith = (input: object) => newKey(world.account, owner.auth, { livemode: false, ...input });
const contentDigest = (body: string) => `sha-256=:${hash('sha256', body, 'base64')}:`;

interface SignOptions {
  body?: string;
  /** With the parameters: the text after the label. */
  input?: string;
  values?: Record<string, string>;
  signer?: typeof privateKey;
  label?: string;
}

const COVERED = '("@method" "@path" "content-digest")';

/** Signs as a client does, with its own signature base: nothing here is the gateway's code. */
function signed({
  body = BODY,
  input = `${COVERED};created=${CREATED}`,
  values = {},
  signer = privateKey,
  label = 'sig1',
}: SignOptions = {}) {
  const known: Record<string, string> = { '@method': 'POST', '@path': PATH, 'content-digest': contentDigest(body), ...values };
  const names = [...(/^\(([^)]*)\)/.exec(input)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  const base = [...names.map((name) => `"${name}": ${known[name]}`), `"@signature-params": ${input}`].join('\n');
  return {
    'content-digest': contentDigest(body),
    'signature-input': `${label}=${input}`,
    signature: `${label}=:${sign(null, Buffer.from(base), signer).toString('base64')}:`,
  };
}

const ask = (headers: Record<string, string>, body = BODY, path = PATH) => chat(world, { ...key.auth, ...headers }, body, path);

describe('a key that requires signatures', () => {
  test('answers a signed request, plain or streamed', async () => {
    expect((await ask(signed())).status).toBe(200);
    const body = JSON.stringify({ ...CHAT, stream: true });
    expect((await ask(signed({ body }), body)).text).toContain('[DONE]');
  });

  test('refuses an unsigned one, which draws nothing on its rate', async () => {
    const { status, code, headers } = await ask({});
    expect([status, code]).toEqual([401, 'signature_required']);
    const remaining = (of: Headers) => Number(of.get('x-ratelimit-remaining-requests'));
    // What is drawn comes back with time, never goes.
    expect(remaining((await ask({})).headers)).toBeGreaterThanOrEqual(remaining(headers));
  });

  test('opens nothing of the account, signed or not, until a session lifts the requirement', async () => {
    const { keyId } = key;
    for (const headers of [key.auth, { ...key.auth, ...signed({ values: { '@method': 'GET', '@path': '/v1/users/me' } }) }])
      for (const path of ['/v1/users/me', '/v1/keys', `/v1/keys/${keyId}`]) {
        const { status, body } = await send(world.account, path, { headers });
        expect([status, body.code]).toEqual([401, 'signature_required']);
      }
    await send(world.account, `/v1/keys/${keyId}`, { method: 'PATCH', headers: owner.auth, json: { require_signature: false } });
    expect((await send(world.account, '/v1/users/me', { headers: key.auth })).status).toBe(200);
  });

  test('takes nothing for a signature that does not hold', async () => {
    key = await keyWith({ signing_public_key: PUBLIC_KEY, rate_limits: { requests_per_minute: 1 } });
    for (let time = 0; time < 3; time++) expect((await ask({ ...signed(), signature: 'sig1=:AA==:' })).status).toBe(401);
    expect((await ask(signed())).headers.get('x-ratelimit-remaining-requests')).toBe('0');
  });
});

describe('a key with a public key that requires nothing', () => {
  beforeEach(async () => {
    key = await keyWith({ signing_public_key: PUBLIC_KEY });
  });

  test('answers unsigned requests, and refuses what is signed wrongly', async () => {
    expect((await ask({})).status).toBe(200);
    expect((await ask(signed())).status).toBe(200);
    expect((await ask(signed({ signer: generateKeyPairSync('ed25519').privateKey }))).code).toBe('invalid_signature');
  });

  test('goes by the newest public key at once', async () => {
    const next = generateKeyPairSync('ed25519');
    const json = { signing_public_key: next.publicKey.export({ format: 'jwk' }).x };
    await send(world.account, `/v1/keys/${key.keyId}`, { method: 'PATCH', headers: owner.auth, json });
    expect((await ask(signed())).code).toBe('invalid_signature');
    expect((await ask(signed({ signer: next.privateKey }))).status).toBe(200);
  });
});

test('without a registered public key there is nothing to verify with: signatures, those of sessions too, are left unread', async () => {
  key = await keyWith({});
  for (const auth of [key.auth, owner.auth]) {
    const { status, headers } = await chat(world, { ...auth, ...signed(), signature: 'nonsense' }, BODY);
    expect(status).toBe(200);
    await world.written();
    const receipt = await send(world.account, `/v1/receipts/${headers.get('x-receipt-id')}`);
    expect(receipt.body.payload.client_signature).toBeNull();
  }
});

describe('a signature may cover', () => {
  const AZURE = '/openai/v1/chat/completions?api-version=preview';
  const authority = () => world.authority;

  test.each([
    ['the target URI, by the scheme that the public URL has', '@target-uri', () => `https://${authority()}${PATH}`, PATH],
    ['the request target, with its query, by Azure’s paths too', '@request-target', () => AZURE, AZURE],
    ['the path, as it was sent', '@path', () => `${PATH}/`, `${PATH}/`],
  ])('%s', async (_what, component, value, path) => {
    const input = `("@method" "${component}" "content-digest");created=${CREATED}`;
    expect((await ask(signed({ input, values: { [component]: value() } }), BODY, path)).status).toBe(200);
  });

  test('authority, scheme, query and fields as well', async () => {
    const input = `("@method" "@path" "@query" "@authority" "@scheme" "content-type" "x-agent-run-id" "content-digest");created=${CREATED};expires=${CREATED + 60};keyid="${key.keyId}";alg="ed25519";tag="app"`;
    const values = {
      '@query': '?',
      '@authority': authority(),
      '@scheme': 'https',
      'content-type': 'application/json',
      'x-agent-run-id': 'run-1',
    };
    expect((await ask({ ...signed({ input, values }), 'x-agent-run-id': 'run-1' })).status).toBe(200);
    expect((await ask({ ...signed({ input, values }), 'x-agent-run-id': 'run-2' })).code).toBe('invalid_signature');
  });

  test('the key by its thumbprint', async () => {
    const input = `${COVERED};created=${CREATED};keyid="${keyThumbprint(PUBLIC_KEY)}"`;
    expect((await ask(signed({ input }))).status).toBe(200);
  });
});

describe('among several signatures', () => {
  const both = (label: string) => {
    const [own, other] = [signed({ label }), signed({ label: 'proxy', signer: generateKeyPairSync('ed25519').privateKey })];
    return {
      ...own,
      'signature-input': `${other['signature-input']}, ${own['signature-input']}`,
      signature: `${other.signature}, ${own.signature}`,
    };
  };

  test('the one that is labelled for the gateway counts', async () => {
    expect((await ask(both('tallygate'))).status).toBe(200);
    expect((await ask(both('sig1'))).body.detail).toContain('label the one that counts');
  });
});

describe('a signature is refused, with the reason', () => {
  const created = (offset: number) => `${COVERED};created=${CREATED + offset}`;
  const without = (name: string) => {
    const headers: Record<string, string> = signed();
    delete headers[name];
    return headers;
  };

  test.each([
    ['without its other half', () => without('signature'), 'belong together'],
    ['without Signature-Input', () => without('signature-input'), 'belong together'],
    ['without Content-Digest', () => without('content-digest'), 'Content-Digest is missing'],
    ['over another body', () => signed({ body: `${BODY} ` }), 'not the digest of the body received'],
    [
      'with a digest of another kind only',
      () => ({ ...signed(), 'content-digest': `sha-512=:${hash('sha512', BODY, 'base64')}:` }),
      'no sha-256',
    ],
    ['that does not cover the method', () => signed({ input: `("@path" "content-digest");created=${CREATED}` }), '"@method"'],
    ['that does not cover the path', () => signed({ input: `("@method" "content-digest");created=${CREATED}` }), '"@path"'],
    ['that does not cover the digest', () => signed({ input: `("@method" "@path");created=${CREATED}` }), '"content-digest"'],
    ['without a time', () => signed({ input: COVERED }), 'created is missing'],
    ['too old', () => signed({ input: created(-301) }), 'more than 300 seconds'],
    ['from the future', () => signed({ input: created(301) }), 'more than 300 seconds'],
    ['that has expired', () => signed({ input: `${created(-60)};expires=${CREATED}` }), 'has expired'],
    ['by another key', () => signed({ signer: generateKeyPairSync('ed25519').privateKey }), 'does not fit the request'],
    ['over another path', () => signed({ values: { '@path': '/v1/embeddings' } }), 'does not fit the request'],
    ['over another method', () => signed({ values: { '@method': 'GET' } }), 'does not fit the request'],
    ['that names another key', () => signed({ input: `${created(0)};keyid="other"` }), 'keyid'],
    ['by another algorithm', () => signed({ input: `${created(0)};alg="rsa-pss-sha512"` }), '"alg" is not "ed25519"'],
    ['with an empty nonce', () => signed({ input: `${created(0)};nonce=""` }), 'nonce'],
    [
      'that covers what is not there',
      () => signed({ input: `("@method" "@path" "content-digest" "x-none");created=${CREATED}` }),
      '"x-none"',
    ],
    [
      'that covers what is not supported',
      () => signed({ input: `("@method" "@path" "content-digest" "@status");created=${CREATED}` }),
      '"@status"',
    ],
    ['of a component with parameters', () => signed({ input: `("@method" "@path" "content-digest";sf);created=${CREATED}` }), 'parameters'],
    ['whose input is no dictionary', () => ({ ...signed(), 'signature-input': '(' }), 'Signature-Input is not a dictionary'],
    ['whose input is no list', () => ({ ...signed(), 'signature-input': 'sig1=1' }), 'not a list of components'],
    ['that is no dictionary', () => ({ ...signed(), signature: '::' }), 'Signature is not a dictionary'],
    ['under another label', () => ({ ...signed(), signature: signed({ label: 'sig2' }).signature }), 'no member "sig1"'],
    ['of 63 bytes', () => ({ ...signed(), signature: `sig1=:${Buffer.alloc(63).toString('base64')}:` }), 'not 64 bytes'],
  ])('%s', async (_what, headers, why) => {
    const { status, code, body } = await ask(headers());
    expect([status, code]).toEqual([401, 'invalid_signature']);
    expect(body.detail).toContain(why);
  });

  test('with S + L in the place of S, its second spelling', async () => {
    const headers = signed();
    const bytes = Buffer.from(/:(.*):/.exec(headers.signature)?.[1] ?? '', 'base64');
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(bytes, 32);
    expect((await ask({ ...headers, signature: `sig1=:${bytes.toString('base64')}:` })).code).toBe('invalid_signature');
  });
});

describe('a signature without a nonce', () => {
  test('is good for one request, for as long as it is accepted at all', async () => {
    const first = signed({ input: `${COVERED};created=${CREATED + 300}` });
    expect((await ask(first)).status).toBe(200);
    for (const later of [0, 300_000, 600_000]) {
      clock.stoppedAtMs = START + later;
      expect((await ask(first)).body.detail).toContain('signature was used before');
    }
  });

  test('sent many times at once goes through once', async () => {
    const headers = signed();
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(headers)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a nonce', () => {
  const withNonce = (nonce: string, created = CREATED) => signed({ input: `${COVERED};created=${created};nonce="${nonce}"` });

  test('is good for one request, for as long as its signature would be', async () => {
    const first = withNonce('once', CREATED + 300);
    expect((await ask(first)).status).toBe(200);
    for (const later of [0, 300_000, 600_000]) {
      clock.stoppedAtMs = START + later;
      expect((await ask(first)).body.detail).toContain('nonce was used before');
    }
  });

  test('of one key says nothing of another’s, and a signature that does not hold uses none up', async () => {
    expect((await ask({ ...withNonce('mine'), signature: signed().signature })).code).toBe('invalid_signature');
    expect((await ask(withNonce('mine'))).status).toBe(200);
    key = await keyWith({ signing_public_key: PUBLIC_KEY });
    expect((await ask(withNonce('mine'))).status).toBe(200);
  });

  test('sent many times at once goes through once', async () => {
    const headers = withNonce('at once');
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(headers)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

test('a valid signature is in the receipt, where anybody can verify it again', async () => {
  const input = `${COVERED};created=${CREATED};nonce="for-the-receipt"`;
  const headers = signed({ input });
  const answer = await ask(headers);
  await world.written();
  const { body: receipt } = await send(world.account, `/v1/receipts/${answer.headers.get('x-receipt-id')}`);
  const { body: keys } = await send(world.account, '/.well-known/vaas-keys.json');
  expect((receipt as ReceiptResponse).payload.client_signature).toEqual({
    alg: 'ed25519',
    public_key: PUBLIC_KEY,
    signature_input: input,
    signature: Buffer.from(/:(.*):/.exec(headers.signature)?.[1] ?? '', 'base64').toString('base64url'),
    content_digest: contentDigest(BODY),
  });
  expect(verifyReceipt(receipt, keys)).toMatchObject({ valid: true, checks: { signature: 'ok', client_signature: 'ok' } });
});
