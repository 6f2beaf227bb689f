import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

let gateway: Gateway;
/** A checkout, as far as the pages need one: what is installed and built is that of the repository. */
let checkout: string;
beforeAll(async () => {
  gateway = await Gateway.start({ database: 'embedded' });
  checkout = mkdtempSync(join(tmpdir(), 'first-minute-'));
  for (const name of ['package.json', 'scripts', 'dist']) symlinkSync(join(REPOSITORY, name), join(checkout, name));
  symlinkSync(gateway.dataDir, join(checkout, '.tallygate'));
});
afterAll(async () => {
  await gateway?.remove();
  if (checkout) rmSync(checkout, { recursive: true, force: true });
});

/** What a page has for pasting, but for `npm start`, which is running. */
const blocksOf = (page: string): string[] =>
  [...readFileSync(join(REPOSITORY, 'docs/start', `${page}.md`), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, block = '']) => block.replaceAll('127.0.0.1:8787', new URL(gateway.url).host))
    .filter((block) => block.trim() !== 'npm start');

/** One block after the other in one shell, as they are pasted; ends at the first that fails. */
async function paste(page: string): Promise<string> {
  const shell = spawn('bash', ['-e', '-o', 'pipefail'], {
    cwd: checkout,
    env: { ...process.env, XDG_CONFIG_HOME: join(checkout, 'config') },
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  shell.stdin.end(blocksOf(page).join('\n'));
  const code = await new Promise((resolve) => shell.once('close', resolve));
  if (code !== 0) throw new Error(`${page}: exit ${code}\n${output}`);
  return output;
}

test('with an OpenAI client: an answer with its receipt, and a run that ends at its ceiling', async () => {
  const output = await paste('openai-sdk');
  expect(output).toMatch(/cost 0\.\d+ USD, receipt [0-9a-f-]{36}/);
  expect(output).toMatch(/step 1\n[\s\S]*402 insufficient_quota/);
});

test('with TypeScript: what it cost, a refusal with numbers, a receipt that verifies', async () => {
  const output = await paste('typescript');
  expect(output).toMatch(/cost 0\.\d+ USD, receipt [0-9a-f-]{36}/);
  expect(output).toMatch(/agent_run cap 0\.001 needed 0\.\d+/);
  expect(output).toMatch(/^true \{/m);
});

test('in a terminal: a key with a cap, its budget, usage, and a receipt checked offline', async () => {
  const output = await paste('terminal');
  expect(output).toMatch(/laptop/);
  expect(output).toMatch(/gpt-4o-mini/);
  expect(output).toMatch(/[Vv]alid/);
});
