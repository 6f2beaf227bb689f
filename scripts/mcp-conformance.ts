// Holds the MCP server against the protocol's own tools: the public conformance suite, and the Inspector's command line. They bring two
// hundred packages along, so they are installed beside the workspace, in .tools/, when this is run and not before.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from '../acceptance/src/gateway.ts';
import { outsideTool } from './outside-tool.ts';

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const CONFORMANCE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';

const ALL = ['2025-11-25', '2026-07-28'];
/** What a server has to pass that is a product: the other scenarios call tools, resources and prompts of the suite's own fixture server. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  'server-initialize': ['2025-11-25'],
  ping: ['2025-11-25'],
  'server-stateless': ['2026-07-28'],
  'tools-list': ALL,
  'resources-list': ALL,
  'prompts-list': ALL,
  'sep-2164-resource-not-found': ['2026-07-28'],
  'dns-rebinding-protection': ALL,
  caching: ['2026-07-28'],
  'http-header-validation': ['2026-07-28'],
  'server-sse-multiple-streams': ['2026-07-28'],
};
/** Checks that need a tool which exists to be checked: the suite counts them as failed where there is none. */
const NOT_TESTABLE = /Not testable/;

const home = mkdtempSync(join(tmpdir(), 'tallygate-mcp-'));
// The tools store state in the home folder of the user.
const env = { ...process.env, HOME: home, NO_COLOR: '1', FORCE_COLOR: '0' };
const inspector = join(outsideTool(INSPECTOR), 'mcp-inspector');
const conformance = join(outsideTool(CONFORMANCE), 'conformance');
const gateway = await Gateway.start();
const key = gateway.bootstrap.test_api_key;
const proxy = await startProxy(gateway.url, key);
let failures = 0;
try {
  inspect('lists tools', ['--method', 'tools/list'], /"name": "create_chat_completion"/);
  inspect('lists resources', ['--method', 'resources/list'], /"uri": "tallygate:\/\/models"/);
  inspect('lists prompts', ['--method', 'prompts/list'], /"name": "choose_model"/);
  inspect('calls a tool', ['--method', 'tools/call', '--tool-name', 'get_model', '--tool-arg', 'model=gpt-4o-mini'], /"structuredContent"/);
  for (const [scenario, versions] of Object.entries(SCENARIOS)) for (const version of versions) await conform(scenario, version);
} finally {
  proxy.close();
  await gateway.remove();
  rmSync(home, { recursive: true, force: true });
}
process.stdout.write(failures === 0 ? '\nEverything that applies passes.\n' : `\n${failures} fail.\n`);
process.exitCode = failures === 0 ? 0 : 1;

function report(passes: boolean, what: string, details = ''): void {
  if (!passes) failures += 1;
  process.stdout.write(`${passes ? 'ok  ' : 'FAIL'} ${what}${passes ? '' : `\n${details}`}\n`);
}

function inspect(what: string, args: readonly string[], wanted: RegExp): void {
  const { status, stdout, stderr } = spawnSync(
    inspector,
    ['--cli', `${gateway.url}/mcp`, ...args, '--header', `Authorization: Bearer ${key}`],
    { env, encoding: 'utf8', timeout: 60_000 },
  );
  report(status === 0 && wanted.test(stdout), `inspector ${what}`, stderr || stdout.slice(0, 1_000));
}

/** Asynchronously, because the credential is added by a proxy in this process. */
async function conform(scenario: string, version: string): Promise<void> {
  const child = spawn(conformance, ['server', '--url', `${proxy.url}/mcp`, '--scenario', scenario, '--spec-version', version], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  await once(child, 'close');
  const [, passed = '0', of = '0', failed = '1'] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(output) ?? [];
  const untestable = output.split('\n').filter((line) => /^\s+Error: /.test(line) && NOT_TESTABLE.test(line)).length;
  const note = untestable > 0 ? `, ${untestable} not testable without a fixture` : '';
  report(Number(failed) === untestable && Number(of) > 0, `conformance ${version} ${scenario}: ${passed}/${of}${note}`, output);
}

/** The suite has no option for a credential. */
async function startProxy(target: string, credential: string): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(target);
  const server = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${credential}` };
    const onward = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
