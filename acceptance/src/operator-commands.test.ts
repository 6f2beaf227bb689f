import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';
import { admin } from './operator.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
});
afterAll(() => gateway?.remove());

/** A line of each command, and what it answers. */
const LINES: Readonly<Record<string, { readonly line: (email: string) => string[]; readonly says: RegExp }>> = {
  'mfa-reset': { line: (email) => ['mfa-reset', email], says: /has no second factor: nothing was changed/ },
  role: { line: (email) => ['role', email, 'admin'], says: /is admin already: nothing was changed/ },
  plan: { line: (email) => ['plan', email, 'pro'], says: /was on Operator and is on Pro now/ },
  models: { line: () => ['models', 'gpt-4o-mini'], says: /^gpt-4o-mini\tshipped\tinput_tokens 0\.15/m },
  price: {
    line: () => ['price', 'gpt-4o-mini', '--input', '1', '--output', '2'],
    says: /^gpt-4o-mini\tshipped\t.*input_tokens 1, output_tokens 2/,
  },
  model: { line: () => ['model', 'own', '--input', '0', '--output', '0'], says: /^own\tadmin\tinput_tokens 0, output_tokens 0/ },
  'model-remove': { line: () => ['model-remove', 'own'], says: /own is removed from the catalogue/ },
  'log-resume': { line: () => ['log-resume'], says: /The log of receipts is not stopped/ },
  'log-unsealed': { line: () => ['log-unsealed'], says: /^Every receipt is sealed\./ },
  reconcile: { line: () => ['reconcile'], says: /in the memory of the gateway, which compares them with the ledger every minute/ },
  quarantine: { line: () => ['quarantine'], says: /^Nothing waits\./ },
  archive: { line: () => ['archive'], says: /^Nothing is archived\./ },
  blobs: { line: () => ['blobs'], says: /^0 blobs are in .*; no bucket is set\.$/m },
  migrate: { line: () => ['migrate'], says: /^The database is up to date\./ },
};

test('every command of the help is done by the script that an operator starts', async () => {
  const { stderr: help } = await admin(['--help'], gateway.places);
  expect([...help.matchAll(/npm run admin -- (\S+)/g)].map(([, name]) => name)).toEqual(Object.keys(LINES));
  for (const [name, { line, says }] of Object.entries(LINES)) {
    const { stdout, stderr, exitCode } = await admin(line(gateway.bootstrap.admin_email), gateway.places);
    expect({ name, stderr, exitCode }).toEqual({ name, stderr: '', exitCode: 0 });
    expect(stdout).toMatch(says);
  }
});
