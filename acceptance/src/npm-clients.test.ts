import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('npm-clients.mjs', import.meta.url));
/** Too large for everybody's installation. A variable names the folder where one is installed: `MASTRA=/elsewhere/mastra`. */
const CLIENTS = [
  { client: 'mastra', folder: process.env['MASTRA'] },
  { client: 'llamaindex', folder: process.env['LLAMAINDEX'] },
];
const isAnyThere = CLIENTS.some(({ folder }) => folder !== undefined);

let upstream: FakeUpstream | undefined;
let gateway: Gateway | undefined;
let live = '';
let poor = '';
beforeAll(async () => {
  if (!isAnyThere) return;
  upstream = await startFakeUpstream();
  upstream.script(({ body }) => {
    const asked = JSON.stringify(body);
    const isOffered = asked.includes('"look"') && !asked.includes('"role":"tool"');
    return isOffered ? { text: '', toolCalls: [{ name: 'look', arguments: '{"city":"Ulm"}' }] } : undefined;
  });
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'openai', base_url: upstream.url }] });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  live = (await account.createKey()).key;
  poor = (await account.createKey({ monthly_cap_usd: '0.00000001' })).key;
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

describe.each(CLIENTS)('$client, where a variable says that it is installed', ({ client, folder }) => {
  test.runIf(folder).each(['a provider', 'the sandbox'])(
    'answers from %s, streams, runs a tool, and fails for a model and a cap',
    async (whose) => {
      const isLive = whose === 'a provider';
      const key = isLive ? live : (gateway?.bootstrap.test_api_key ?? '');
      const { stdout } = await run(process.execPath, [SCRIPT, client, folder ?? '', gateway?.url ?? '', key, poor]);
      const text = expect.stringContaining(isLive ? 'tok0 tok1' : 'Say hello.');
      const asked = [isLive ? 'Ulm' : expect.any(String)];
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({ plain: text, streamed: text, asked, error: 404, cap: 402 });
    },
  );
});
