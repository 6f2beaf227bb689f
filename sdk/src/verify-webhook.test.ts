import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from './verify-webhook.ts';

/** The example of the specification. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  at: 1_614_265_330_000,
};
const verify = (
  { body = VECTOR.body, headers = {}, secret = VECTOR.secret }: { body?: string; headers?: object; secret?: string | string[] } = {},
  at = VECTOR.at,
) => verifyWebhook(body, { ...VECTOR.headers, ...headers }, { secret, now: () => at });
const codeOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'verified',
    (error: unknown) => (error instanceof WebhookVerificationError ? error.code : error),
  );

test('takes the example of the specification', async () => {
  expect(await verify()).toEqual({ test: 2432232314 });
  expect(
    await verifyWebhook(new TextEncoder().encode(VECTOR.body), new Headers(VECTOR.headers), { ...VECTOR, now: () => VECTOR.at }),
  ).toEqual({
    test: 2432232314,
  });
});

test.each([
  ['another body', { body: '{"test": 2432232315}' }],
  ['another id', { headers: { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' } }],
  ['another time', { headers: { 'webhook-timestamp': '1614265331' } }],
  ['another secret', { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx' }],
  ['a cut signature', { headers: { 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1A==' } }],
  ['a signature of another version', { headers: { 'webhook-signature': VECTOR.headers['webhook-signature'].replace('v1', 'v1a') } }],
  ['what is no base64', { headers: { 'webhook-signature': 'v1,§§§' } }],
  ['no version', { headers: { 'webhook-signature': 'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' } }],
])('refuses %s', async (_name, changed) => {
  expect(await codeOf(verify(changed))).toBe('signature_mismatch');
});

test('takes one good signature among others, and one good secret among others', async () => {
  const other = `v1,${btoa('x'.repeat(32))}`;
  expect(await codeOf(verify({ headers: { 'webhook-signature': `${other} ${VECTOR.headers['webhook-signature']}` } }))).toBe('verified');
  expect(await codeOf(verify({ secret: ['whsec_AAAA', VECTOR.secret] }))).toBe('verified');
  const flood = `${`${other} `.repeat(50)}${VECTOR.headers['webhook-signature']}`;
  expect(await codeOf(verify({ headers: { 'webhook-signature': flood } }))).toBe('signature_mismatch');
});

test('refuses what was signed more than five minutes before or after now', async () => {
  expect(await codeOf(verify({}, VECTOR.at + 300_000))).toBe('verified');
  expect(await codeOf(verify({}, VECTOR.at - 300_000))).toBe('verified');
  expect(await codeOf(verify({}, VECTOR.at + 301_000))).toBe('outside_tolerance');
  expect(await codeOf(verify({}, VECTOR.at - 301_000))).toBe('outside_tolerance');
  for (const timestamp of ['NaN', 'Infinity', '-1', '1e9', ''])
    expect(await codeOf(verify({ headers: { 'webhook-timestamp': timestamp } }))).toMatch(/outside_tolerance|missing_header/);
});

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('names a missing header %s', async (name) => {
  expect(await codeOf(verify({ headers: { [name]: undefined } }))).toBe('missing_header');
});

test('agrees with the library standardwebhooks on bodies of every kind', async () => {
  const library = new Webhook(VECTOR.secret);
  const at = new Date();
  for (const body of ['{}', '{"a":"é 漢字 🙂"}', '{"a":"\\n"}', `{"long":"${'x'.repeat(100_000)}"}`]) {
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': library.sign('evt_1', at, body),
    };
    expect(await verifyWebhook(body, headers, { secret: VECTOR.secret })).toEqual(JSON.parse(body));
    expect(() => library.verify(body, headers)).not.toThrow();
  }
});

test('says so where the signed body is no JSON, and where the secret is none', async () => {
  const at = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(VECTOR.secret).sign('evt_1', at, 'text'),
  };
  expect(await codeOf(verifyWebhook('text', headers, { secret: VECTOR.secret }))).toBe('malformed_body');
  await expect(verify({ secret: 'whsec_§' })).rejects.toThrow(TypeError);
  await expect(verify({ secret: '' })).rejects.toThrow(TypeError);
});
