import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('python-clients.py', import.meta.url));
/** `PYTHON` may name one of a virtual environment; nothing is installed for these tests. */
const python = process.env['PYTHON'] ?? 'python3';
/** By the function of the script: the module that has to be there. */
const MODULES: Readonly<Record<string, string>> = {
  google_genai: 'google.genai',
  instructor: 'instructor',
  openai_agents: 'agents',
  llm: 'llm',
  pydantic_ai: 'pydantic_ai',
  llama_index: 'llama_index.llms.openai_like',
};
const CLIENTS = Object.keys(MODULES);
const ASK = `import importlib.util, sys\nfor name in sys.argv[1:]:\n  try: print(name if importlib.util.find_spec(name) else '')\n  except ImportError: pass`;
const there = new Set(spawnSync(python, ['-c', ASK, ...Object.values(MODULES)], { encoding: 'utf8' }).stdout?.split('\n') ?? []);
const isThere = (client: string): boolean => there.has(MODULES[client] ?? '');

let upstream: FakeUpstream | undefined;
let gateway: Gateway | undefined;
let live = '';
let poor = '';
beforeAll(async () => {
  if (!CLIENTS.some(isThere)) return;
  upstream = await startFakeUpstream();
  // Who is offered a tool calls it, until it has its result.
  upstream.script(({ body }) => {
    const asked = JSON.stringify(body);
    const isOffered = asked.includes('"look"') && !/"role":"tool"|function_call_output|functionResponse|tool_result/.test(asked);
    const isForm = asked.includes('"Person"');
    if (isForm) return { text: '', toolCalls: [{ name: 'Person', arguments: '{"name":"Ada"}' }] };
    return isOffered ? { text: '', toolCalls: [{ name: 'look', arguments: '{"city":"Ulm"}' }] } : undefined;
  });
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'openai', base_url: upstream.url, responses: true }],
    env: {
      ...{ GEMINI_API_KEY: 'google-secret-key', GOOGLE_BASE_URL: new URL('/v1beta', upstream.url).href },
      ...{ ANTHROPIC_API_KEY: 'anthropic-secret-key', ANTHROPIC_BASE_URL: upstream.url },
    },
  });
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  live = (await account.createKey()).key;
  poor = (await account.createKey({ monthly_cap_usd: '0.00000001' })).key;
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

const seenBy = async (client: string, key: string) => {
  const { stdout } = await run(python, [SCRIPT, client, gateway?.url ?? '', key, poor]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};

describe.each(CLIENTS)('%s for Python, where it is installed', (client) => {
  test.runIf(isThere(client))('answers, streams, calls a tool, and raises its own error for a model and a cap', async () => {
    const isForm = client === 'instructor';
    const words = isForm ? 'Ada' : expect.stringContaining('tok0 tok1');
    expect(await seenBy(client, live)).toEqual({
      plain: words,
      // What the provider fills into the form that is asked for piece by piece.
      streamed: isForm ? 'text' : words,
      tool: 'look',
      error: [expect.any(String), 404],
      cap: [expect.any(String), 402],
    });
  });
});
