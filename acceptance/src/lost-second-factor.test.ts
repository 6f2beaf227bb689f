import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoginMfaRequiredResponse, MfaBeginResponse, UserResponse } from '@tallygate/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { authenticatorCode } from './authenticator.ts';
import { Gateway } from './gateway.ts';
import { admin as adminAt } from './operator.ts';

const Login = z.union([LoginMfaRequiredResponse, UserResponse]);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await Gateway.start({ database: 'embedded' });
});
afterAll(() => gateway?.remove());

const admin = (argv: readonly string[], places = gateway.places) => adminAt(argv, places);

const post = async (path: string, body: object | undefined, token?: string): Promise<unknown> => {
  const answer = await fetch(`${gateway.url}/v1/users/${path}`, {
    method: 'POST',
    headers: { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return answer.json();
};

const credentials = () => ({ email: gateway.bootstrap.admin_email, password: gateway.bootstrap.admin_password });
const logIn = async () => Login.parse(await post('login', credentials()));

async function sessionOf(): Promise<string> {
  const answer = await logIn();
  if ('mfa_required' in answer || !answer.session) throw new Error('The login asks for a second factor');
  return answer.session.token;
}

/** @returns the session that set it up */
async function setUpSecondFactor(): Promise<string> {
  const token = await sessionOf();
  const { otpauth_uri } = MfaBeginResponse.parse(await post('mfa/begin', undefined, token));
  await post('mfa/confirm', { code: authenticatorCode(otpauth_uri), password: credentials().password }, token);
  expect(await logIn()).toMatchObject({ mfa_required: true });
  return token;
}

const statusOf = async (token: string) =>
  (await fetch(`${gateway.url}/v1/users/me`, { headers: { authorization: `Bearer ${token}` } })).status;

test('the only administrator who has lost app and codes gets back in by a command on the server, while the gateway runs', async () => {
  const before = await setUpSecondFactor();
  const { email } = credentials();
  const done = await admin(['mfa-reset', email]);
  expect(done).toEqual({
    stdout: expect.stringContaining(`The second factor of ${email} is off, and 1 session has ended.`),
    stderr: '',
    exitCode: 0,
  });
  expect(await statusOf(before)).toBe(401);
  const token = await sessionOf();
  const log = await fetch(`${gateway.url}/v1/audit-log?action=mfa.reset`, { headers: { authorization: `Bearer ${token}` } });
  expect(await log.json()).toMatchObject({ data: [{ actor: { kind: 'system', id: null }, changes: { sessions_ended: 1 } }] });
  await expect.poll(() => readdirSync(join(gateway.dataDir, 'mail')).length).toBeGreaterThanOrEqual(2);
  expect(await admin(['mfa-reset', email])).toMatchObject({ stdout: `${email} has no second factor: nothing was changed.\n`, exitCode: 0 });
});

test('and while it does not: the database runs for as long as the command takes', async () => {
  await setUpSecondFactor();
  await gateway.stop();
  const { email } = credentials();
  expect(await admin(['mfa-reset', email])).toMatchObject({ stdout: expect.stringContaining('is off'), exitCode: 0 });
  await gateway.start();
  expect(await statusOf(await sessionOf())).toBe(200);
});

test('an unknown address, a mistyped folder and a mistyped command are distinct errors', async () => {
  expect(await admin(['mfa-reset', 'nobody@example.com'])).toEqual({
    stdout: '',
    stderr: 'There is no user with the address nobody@example.com.\n',
    exitCode: 1,
  });
  expect(await admin(['mfa-rest', 'ada@example.com'])).toMatchObject({
    stderr: expect.stringContaining('Usage: npm run admin'),
    exitCode: 64,
  });
  const empty = mkdtempSync(join(tmpdir(), 'tallygate-empty-'));
  expect(await admin(['mfa-reset', 'ada@example.com'], { DATA_DIR: empty })).toMatchObject({
    stderr: expect.stringContaining('Set DATABASE_URL or DATA_DIR'),
    exitCode: 78,
  });
  expect(readdirSync(empty)).toEqual([]);
  rmSync(empty, { recursive: true });
});
