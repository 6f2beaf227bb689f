import { startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { expect, it } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

it.each([
  ['transcribe GONE', 'Check the path'],
  ['batches create GONE', '`tallygate files list --purpose batch`'],
  ['files upload GONE', 'Check the path'],
  ['videos create A ledger --picture GONE', 'Check the path'],
  ['people import GONE', 'Check the path'],
  ['api /v1/keys --input GONE', 'Check the path'],
  ['receipts verify GONE', '`tallygate receipts get ID -o FILE`'],
  ['invoices verify GONE', '`tallygate invoices get MONTH -o FILE`'],
  ['anchors verify GONE --rpc http://127.0.0.1:9', '`tallygate receipts get ID -o FILE`'],
  ['anchors deploy --rpc http://127.0.0.1:9 --key-file GONE', 'TALLYGATE_DEPLOY_KEY'],
  ['keys create --name a --signing-key GONE', '`openssl genpkey'],
])('is asked for in one way where it is missing: %s', async (line, nextStep) => {
  await using gateway = await startStubGateway();
  const { stderr, exitCode } = await new Terminal(gateway).type(line.split(' '));
  expect(stderr).toContain('error: There is no file GONE.\n  code: no_such_file\n  next: ');
  expect(stderr).toContain(nextStep);
  expect(exitCode).toBe(2);
});
