import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { model, refusal } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { wholeProgram } from '../scripts/generate-man.ts';
import { Terminal } from '../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

it('documents environment and exit codes in its help, which is no failure', async () => {
  const { stdout, stderr, exitCode } = await terminal.type(['--help']);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toContain('TALLYGATE_BASE_URL');
  expect(stdout).toContain('3  receipt or log not valid');
});

it('shows in its help what each command takes, whether it is loaded or not', async () => {
  const { stdout } = await terminal.type(['--help']);
  expect(stdout).toContain((await wholeProgram()).helpInformation());
});

it('suggests what was probably meant', async () => {
  expect(await terminal.type(['kyes', 'list'])).toEqual({
    stdout: '',
    stderr: "error: unknown command 'kyes'\n(Did you mean keys?)\n  code: usage\n  next: Run `tallygate --help`.\n",
    exitCode: 2,
  });
});

it('writes wrong usage as JSON where JSON is asked for', async () => {
  const { stderr, exitCode } = await terminal.type(['keys', 'list', '--json', 'nope']);
  expect(exitCode).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage', exit_code: 2, message: expect.stringContaining('"nope"') } });
});

it('names the field that was probably meant, and all that there are', async () => {
  const { stderr } = await terminal.type(['keys', 'list', '--json', 'name,stauts']);
  expect(JSON.parse(stderr).error.message).toMatch(/There is no field "stauts"\. Did you mean status\? The fields are .*name,/);
});

it('explains where to find the id, for a missing and a malformed one', async () => {
  gateway.script(refusal('not_found'));
  expect((await terminal.type(['files', 'get', 'file-1'])).stderr).toContain('one. The ids are in `tallygate files list`.\n');
  const errors = [{ loc: ['path', 'receipt_id'], msg: 'Invalid UUID', type: 'invalid_format' }];
  gateway.script(refusal('validation_failed', { problem: { errors } }));
  expect((await terminal.type(['receipts', 'get', 'foo'])).stderr).toContain('next: The ids are in `tallygate receipts list`.\n');
});

it('leads from a gateway without providers to its sandbox', async () => {
  gateway.script(refusal('no_provider_configured'));
  expect((await terminal.type(['chat', 'Hi.'])).stderr).toContain('tallygate keys create --name sandbox --test');
});

it('lists every fault of a refused input', async () => {
  const fault = (field: string) => ({ loc: ['query', field], msg: 'Invalid date', type: 'invalid_format' });
  const errors = [fault('from'), fault('to')];
  gateway.script(refusal('validation_failed', { detail: 'The input is not valid.', problem: { errors } }));
  const { stderr } = await terminal.type(['usage', '--from', '2026-02-31']);
  expect(stderr).toMatch(/^error: The input is not valid\.\n {2}query\.from: Invalid date\n {2}query\.to: Invalid date\n/);
});

it('leads to the documentation of a code it has no advice for', async () => {
  gateway.script(refusal('forbidden'));
  const { stderr } = await terminal.type(['models']);
  expect(stderr).toContain('next: Read https://tallygate.example/docs/errors/forbidden');
});

it.each([
  ['ftp://nowhere', 'Give one such as https://gateway.example.com.'],
  ['foo', 'Give one such as https://gateway.example.com.'],
  ['tg_test_SECRET', 'Give one such as https://gateway.example.com.'],
  ['localhost:8787', 'Did you mean http://localhost:8787?'],
  ['gateway.example.com/v1', 'Did you mean https://gateway.example.com?'],
])('says what is wrong with the address %s before it asks for a login, and does not repeat it', async (baseUrl, nextStep) => {
  const { stderr, exitCode } = await terminal.type(['keys', 'list'], { baseUrl });
  const message = 'error: TALLYGATE_BASE_URL must be an http or https address.';
  expect(stderr).toBe(`${message}\n  code: bad_address\n  next: ${nextStep}\n`);
  expect(exitCode).toBe(2);
  const option = await terminal.type(['models', '--base-url', baseUrl]);
  expect(option.stderr).toContain('error: --base-url must be an http or https address.');
});

it('reports a malformed credential by its name, without its value', async () => {
  const malformed = 'tg_test_SECRET\nX';
  for (const [name, circumstances] of [
    ['TALLYGATE_API_KEY', { apiKey: malformed }],
    ['TALLYGATE_SESSION_TOKEN', { sessionToken: malformed }],
  ] as const) {
    const { stdout, stderr, exitCode } = await terminal.type(['whoami', '--json', 'all'], circumstances);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'malformed_credential', message: expect.stringContaining(`${name} is malformed`) },
    });
    expect(exitCode).toBe(4);
    expect(stdout + stderr).not.toContain('SECRET');
  }
  expect(gateway.requests).toEqual([]);
});

it('reports that the server is not a gateway, instead of printing its response', async () => {
  const stranger = createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"ok":true}'));
  await once(stranger.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const { stderr, exitCode } = await terminal.type(['keys', 'list', '--base-url', origin]);
  stranger.close();
  expect(stderr).toContain(`error: What answers at ${origin} is not a Tallygate gateway.`);
  expect(exitCode).toBe(1);
});

it('suggests the closest model of those stored at login', async () => {
  const path = '/config/tallygate/default.prices.json';
  terminal.files.set(path, JSON.stringify({ base_url: gateway.baseUrl, prices: { 'gpt-4o-mini': {}, 'text-embedding-3-small': {} } }));
  gateway.script(refusal('model_not_found'));
  const { stderr } = await terminal.type(['chat', 'Hi.', '--model', 'gpt-4o-mni']);
  expect(stderr).toContain('next: Did you mean gpt-4o-mini? Run `tallygate models` for the list.');
});

it('asks the gateway for its models where none are stored; works without an answer', async () => {
  gateway.script(refusal('model_not_found'), { json: { object: 'list', data: [model, model] } });
  const { stderr } = await terminal.type(['chat', 'Hi.', '--model', 'gpt-4o-mni']);
  expect(stderr).toContain('next: Did you mean gpt-4o-mini? Run `tallygate models` for the list.');
  expect(gateway.requests.at(-1)?.headers.authorization).toBeUndefined();

  gateway.script(refusal('model_not_found'), refusal('not_found'));
  expect((await terminal.type(['chat', 'Hi.', '--model', 'gpt-4o-mni'])).stderr).toContain('next: Run `tallygate models` for the list.');
});

it('suggests the option that was probably meant', async () => {
  expect((await terminal.type(['usage', '--form', '2026-11-01'])).stderr).toContain('(Did you mean --from?)');
});

it('reports at once that no server listens on this computer, with the next step', async () => {
  const closed = createServer();
  await once(closed.listen(0, '127.0.0.1'), 'listening');
  const { port } = closed.address() as AddressInfo;
  await once(closed.close(), 'close');
  const asked = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => asked.mockRestore());
  const { stderr, exitCode } = await terminal.type(['keys', 'list', '--base-url', `http://127.0.0.1:${port}`]);
  expect(asked).toHaveBeenCalledTimes(1);
  expect(stderr).toContain(
    `error: Nothing listens at http://127.0.0.1:${port}.\n  code: connection_failed\n  next: Is the gateway running (\`npm start\`)`,
  );
  expect(exitCode).toBe(1);
});

it('names its own commands where the service names operations', async () => {
  gateway.script(refusal('not_found', { detail: 'No such template: GET /v1/marketing/email-templates lists those there are.' }));
  const { stderr } = await terminal.type(['models', 'x']);
  expect(stderr).toContain('error: No such template: `tallygate emails templates list` lists those there are.');
});

it.each(['models', 'profiles', 'deployments'])('takes "%s list" for the list that the noun is', async (noun) => {
  const answer = { json: noun === 'deployments' ? { data: [], has_more: false, next_cursor: null } : { object: 'list', data: [model] } };
  gateway.script(answer, answer);
  const login = { sessionToken: 'tgs_x' };
  const short = await terminal.type([noun, '--json', 'all'], login);
  expect(await terminal.type([noun, 'list', '--json', 'all'], login)).toEqual(short);
  expect(short).toMatchObject({ stderr: '', exitCode: 0 });
});

it('prints the scopes before it asks for a key', async () => {
  const { stderr, exitCode } = await terminal.type(['keys', 'create', '--name', 'a', '--scopes', 'inference,foo']);
  expect(stderr).toContain('There is no scope "foo". The scopes are inference, account:read, ');
  expect(exitCode).toBe(2);
  expect(gateway.requests).toEqual([]);
});
