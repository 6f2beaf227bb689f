import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';

const execute = promisify(execFile);
const EXAMPLES = fileURLToPath(new URL('../../sdk/examples/', import.meta.url));

/** What each says, from its first line to its last. */
const OUTPUTS: Readonly<Record<string, RegExp>> = {
  'agent-run.ts': /^(step \d+: 0\.\d+ USD left\n)+stopped: 0\.\d+ USD needed of a cap of 0\.0001 USD\n$/,
  'ai-sdk.ts': /^.+\n(tool-calls: 0\.\d+ USD\n)?stop: 0\.\d+ USD\n$/,
  'first-answer.ts': /^.*hello.*\n0\.\d+ USD, receipt [0-9a-f-]{36}\n$/i,
  'openai-client.ts': /^.*hello.*\n0\.00000015 USD a token of input\n$/i,
  'stream.ts': /^.+\n0\.\d{9} USD\n$/s,
  'upload.ts': /^18 bytes sent, 18 read back\n0 files left\n$/,
  'verify-receipt.ts': /^valid: \d+ nano-USD\nforged: refused\n$/,
};

let gateway: Gateway;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
});
afterAll(() => gateway?.remove());

test('every example of the SDK says what it is expected to say', async () => {
  expect(readdirSync(EXAMPLES).filter((name) => name.endsWith('.ts'))).toEqual(Object.keys(OUTPUTS));
  const { PATH } = process.env;
  const env = { PATH, TALLYGATE_BASE_URL: gateway.url, TALLYGATE_API_KEY: gateway.bootstrap.test_api_key };
  const run = async (name: string) =>
    [name, (await execute(process.execPath, ['--conditions=tallygate-source', name], { cwd: EXAMPLES, env })).stdout] as const;
  for (const [name, stdout] of await Promise.all(Object.keys(OUTPUTS).map(run))) expect(stdout, name).toMatch(OUTPUTS[name] ?? /^$/);
});
