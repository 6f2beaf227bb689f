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
const PROGRAMS = {
  'modules.mts': MODULE,
  'common.cts': MODULE,
  'plain.cjs': `const { Tallygate } = require('@tallygate/sdk');
const { verifyReceiptText } = require('@tallygate/receipts');
console.log(new Tallygate({ apiKey: null }).baseUrl, verifyReceiptText('{}', { keys: [] }).code);
`,
};
const OUTPUTS = { 'modules.mts': /^BudgetExceededError malformed\n$/, 'plain.cjs': /^http:\S+ malformed\n$/ };

/** The ways of finding a module that today's compilers and bundlers have, each with its kind of module. */
const RESOLUTIONS = { node16: 'node16', nodenext: 'nodenext', bundler: 'preserve' } as const;

/** A project of somebody who has nothing but the tarballs; what they ask of each other is among them. */
export function installConsumer(home: string, tarballs: readonly string[]): void {
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--ignore-scripts'];
  run(home, 'npm', ['install', ...flags, ...tarballs]);
}

/** Compiles and runs programs there. @returns what does not hold */
export function checkConsumer(home: string, readme: string): string[] {
  // Each program of the README stands on its own.
  const examples = [...readFileSync(readme, 'utf8').matchAll(/```ts\n(.+?)```/gs)].map(([, code = '']) => code);
  for (const [index, code] of examples.entries()) writeFileSync(join(home, `readme-${index}.mts`), code);
  for (const [file, code] of Object.entries(PROGRAMS)) writeFileSync(join(home, file), code);
  const compiled = Object.entries(RESOLUTIONS).map(([moduleResolution, module]) => {
    const tsconfig = `tsconfig.${moduleResolution}.json`;
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2022', 'dom'], types: [] },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    };
    writeFileSync(join(home, tsconfig), JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'] }));
    return verdictOf(`compiles under moduleResolution ${moduleResolution}`, home, 'tsc', ['-p', tsconfig], /^$/);
  });
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
