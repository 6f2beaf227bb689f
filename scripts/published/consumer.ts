import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Uses of the types that must compile, and some that must not. */
const MODULE = `import { verifyReceiptText } from '@tallygate/receipts';
import { BudgetExceededError, Tallygate, type Verification } from '@tallygate/sdk';

const tallygate = new Tallygate({ apiKey: 'tg_test_secret' });
const verdict = (found: Verification): string => (found.valid ? found.payload.cost_nano_usd : found.code);
export async function text(): Promise<string | null | undefined> {
  const answer = await tallygate.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] });
  return answer.choices[0]?.message.content;
}
// @ts-expect-error A price is a decimal string.
export const wrong = () => tallygate.keys.create({ name: 'production', monthly_cap_usd: 25 });
// @ts-expect-error There is no such field.
export const absent = (error: BudgetExceededError) => error.budget?.caps;
console.log(BudgetExceededError.name, verdict(verifyReceiptText('{}', { keys: [] })));
`;
/** Beside the tarballs: what the SDK's entry for the AI SDK needs, and is used with. */
const PEERS = ['@ai-sdk/openai-compatible@3.0.92', 'ai@7.0.173', 'zod@4.6.7'];
const AI_MODULE = `import { BudgetExceededError as OfTheSdk } from '@tallygate/sdk';
import { BudgetExceededError, createTallygate, metadataOf, tallygateErrorOf } from '@tallygate/sdk/ai';
import { generateText } from 'ai';

const tallygate = createTallygate({ apiKey: 'tg_test_secret', baseUrl: 'http://127.0.0.1:9', agentRun: { id: 'run-7' } });
try {
  const { providerMetadata } = await generateText({ model: tallygate('gpt-4o-mini'), prompt: 'Hi.', maxRetries: 0 });
  const receiptId: string | undefined = metadataOf(providerMetadata)?.receiptId;
  console.log(receiptId);
} catch (error) {
  console.log(BudgetExceededError === OfTheSdk, tallygateErrorOf(error)?.code);
}
`;

const PROGRAMS = {
  'modules.mts': MODULE,
  'common.cts': MODULE,
  'ai.mts': AI_MODULE,
  'plain.cjs': `const { Tallygate } = require('@tallygate/sdk');
const { verifyReceiptText } = require('@tallygate/receipts');
console.log(new Tallygate({ apiKey: null }).baseUrl, verifyReceiptText('{}', { keys: [] }).code);
`,
};
const OUTPUTS = {
  'modules.mts': /^BudgetExceededError malformed\n$/,
  'ai.mts': /^true connection_failed\n$/,
  'plain.cjs': /^http:\S+ malformed\n$/,
};

/** The ways of finding a module that today's compilers and bundlers have, each with its kind of module. */
const RESOLUTIONS = { node16: 'node16', nodenext: 'nodenext', bundler: 'preserve' } as const;

/** A project that has only the tarballs, with their dependencies on each other. */
export function installConsumer(home: string, tarballs: readonly string[]): void {
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--ignore-scripts'];
  run(home, 'npm', ['install', ...flags, ...tarballs, ...PEERS]);
}

/** Compiles and runs programs there. @returns what does not hold */
export function checkConsumer(home: string, readme: string): string[] {
  // Each program of the README is complete.
  const examples = [...readFileSync(readme, 'utf8').matchAll(/```ts\n(.+?)```/gs)].map(([, code = '']) => code);
  for (const [index, code] of examples.entries()) writeFileSync(join(home, `readme-${index}.mts`), code);
  for (const [file, code] of Object.entries(PROGRAMS)) writeFileSync(join(home, file), code);
  const compiled = Object.entries(RESOLUTIONS).map(([moduleResolution, module]) => {
    const tsconfig = `tsconfig.${moduleResolution}.json`;
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2022', 'dom'], types: [] },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    };
    writeFileSync(join(home, tsconfig), JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'], exclude: ['ai.mts'] }));
    return verdictOf(`compiles under moduleResolution ${moduleResolution}`, home, 'tsc', ['-p', tsconfig], /^$/);
  });
  // Not strict about declarations here: the AI SDK's own do not compile without those of Node.
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  compiled.push(verdictOf('compiles with the AI SDK', home, 'tsc', [...flags, 'ai.mts'], /^$/));
  const ran = Object.entries(OUTPUTS).map(([file, output]) => verdictOf(`runs ${file}`, home, process.execPath, [file], output));
  const program = verdictOf('runs tallygate', home, join(home, 'node_modules/.bin/tallygate'), ['--version'], /^\d+\.\d+\.\d+\n$/);
  return [...compiled, ...ran, program, ...(examples.length > 3 ? [] : ['the README of the SDK has lost its examples'])].filter(
    (fault) => fault !== undefined,
  );
}

function verdictOf(what: string, home: string, program: string, args: readonly string[], wanted: RegExp): string | undefined {
  const { status, stdout, stderr } = spawnSync(program, [...args], { cwd: home, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  const holds = status === 0 && wanted.test(stdout);
  if (holds) console.error(`ok   ${what}`);
  return holds ? undefined : `${what}\n${stdout}${stderr}`;
}

function run(home: string, program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, [...args], { cwd: home, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} fails`);
}
