import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector, receiptTextOf } from '../../testing/vectors.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('keys.json', keySet);
  terminal.files.set('receipt.json', receiptTextOf(readVector('good/for-an-end-user')));
});
afterEach(() => gateway[Symbol.asyncDispose]());

const { names } = readVector('good/for-an-end-user') as { names: { project: string; end_user: string; tags: string[] } };
const verify = (...options: string[]) => terminal.type(['receipts', 'verify', 'receipt.json', '--keys', 'keys.json', ...options], {});

test('verifies that a receipt is of a project, for an end user and has tags', async () => {
  const options = ['--project', names.project, '--end-user', names.end_user, '--tag', ...names.tags];
  expect(await verify(...options)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^valid\n/) });
});

test.each([
  ['--project', '019aa2f1-0000-7000-8000-00000000dddd', 'is not of that project (foreign_receipt)'],
  ['--end-user', 'marie', 'is not for that end user (foreign_receipt)'],
  ['--tag', 'daily', 'is without the tag daily (foreign_receipt)'],
])('refuses a receipt that is not for the %s that is named', async (option, name, reason) => {
  const { stdout, exitCode } = await verify(option, name);
  expect({ stdout: stdout.replace('. (', ' ('), exitCode }).toEqual({ stdout: expect.stringContaining(reason), exitCode: 3 });
});
