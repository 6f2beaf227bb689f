import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const AGENT = {
  name: 'Tallygate',
  description: 'A gateway.',
  version: '0.1.0',
  url: 'https://gateway.example',
  interfaces: [
    { protocol: 'openai', url: 'https://gateway.example/v1', description: 'Base URL.' },
    { protocol: 'mcp', url: 'https://gateway.example/mcp', description: 'MCP.' },
  ],
  authentication: { scheme: 'bearer', credential: 'A key.', scopes: ['inference'], metadata: 'https://gateway.example/x' },
  capabilities: [],
  safeguards: [],
  models: [],
  log: {
    url: 'https://gateway.example/v1/log',
    keys: 'https://gateway.example/.well-known/vaas-keys.json',
    witnesses: [],
    witness_policy: null,
  },
  documents: {
    openapi: 'https://gateway.example/openapi.json',
    openapi_yaml: 'https://gateway.example/openapi.yaml',
    llms: 'https://gateway.example/llms.txt',
    llms_full: 'https://gateway.example/llms-full.txt',
    agents: 'https://gateway.example/agents.md',
    agent_card: 'https://gateway.example/.well-known/agent-card.json',
    receipt_keys: 'https://gateway.example/.well-known/vaas-keys.json',
    prices: 'https://gateway.example/v1/prices',
    security: 'https://gateway.example/.well-known/security.txt',
  },
};

it('prints where to connect, without a login', async () => {
  gateway.script({ json: AGENT });
  expect(await terminal.type(['discovery', 'show'], {})).toEqual({
    stdout: [
      'gateway\thttps://gateway.example',
      'version\t0.1.0',
      'openai\thttps://gateway.example/v1',
      'mcp\thttps://gateway.example/mcp',
      'models\t0',
      'openapi\thttps://gateway.example/openapi.json',
      'for agents\thttps://gateway.example/agents.md',
      '',
    ].join('\n'),
    stderr: '',
    exitCode: 0,
  });
  expect(gateway.requests[0]?.headers.authorization).toBeUndefined();
});

it('prints a text as it is, and a document as JSON, where it is wanted', async () => {
  gateway.script({ text: '# Tallygate\n' }, { json: AGENT });
  expect((await terminal.type(['discovery', 'get', 'llms'], {})).stdout).toBe('# Tallygate\n');
  expect(await terminal.type(['discovery', 'get', 'agent', '-o', 'agent.json'], {})).toEqual({
    stdout: '',
    stderr: 'Wrote agent.json.\n',
    exitCode: 0,
  });
  expect(JSON.parse(terminal.files.get('agent.json') ?? '')).toEqual(AGENT);
  expect(gateway.requests.map(({ path }) => path)).toEqual(['/llms.txt', '/.well-known/agent.json']);
});

it('names the documents there are where another one is asked for', async () => {
  const { stderr, exitCode } = await terminal.type(['discovery', 'get', 'robots'], {});
  expect(stderr).toContain('agent, agent-card, agents, llms, llms-full, openapi, openapi-yaml, resource, mcp-resource, security');
  expect(exitCode).toBe(2);
});
