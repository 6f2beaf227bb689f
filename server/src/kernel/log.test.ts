import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createLog, withoutRedaction } from './log.ts';

const run = promisify(execFile);
const SOURCE = new URL('log.ts', import.meta.url).href;

/** What another process logs, as it arrives at the other end of its standard output. */
async function linesOf(script: string): Promise<{ msg: string }[]> {
  const { stdout } = await run(process.execPath, programOf(script)).catch((failed: { stdout: string }) => failed);
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

const programOf = (script: string): string[] => [
  '--input-type=module',
  '-e',
  `import { createLog, flushed } from ${JSON.stringify(SOURCE)}; const log = createLog('info'); ${script}`,
];

const MANY = 'for (let i = 0; i < 5000; i += 1) log.info({ i }, "line");';

test('loses no line of a process that waits for its log and exits', async () => {
  expect(await linesOf(`${MANY} await flushed(log); process.exit();`)).toHaveLength(5000);
});

test('loses no line of a process that comes to its end', async () => {
  expect(await linesOf(MANY)).toHaveLength(5000);
});

test('has written everything up to a fatal line when a process dies of it', async () => {
  const lines = await linesOf('log.info("before"); log.fatal("the end"); process.kill(process.pid, "SIGKILL");');
  expect(lines.map(({ msg }) => msg)).toEqual(['before', 'the end']);
});

test('writes what is due within a moment, without being asked', async () => {
  const child = spawn(process.execPath, programOf('log.info("soon"); setInterval(() => {}, 60_000);'), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  child.kill('SIGKILL');
  expect(JSON.parse(String(line))).toMatchObject({ msg: 'soon' });
});

test('redacts credentials under their usual names, except where the fields are our own', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  log.info({ token: 'tgs_1', headers: { authorization: 'Bearer tg_1' } }, 'request');
  withoutRedaction(log).info({ outcome: 'completed' }, 'settled');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'info', token: '[redacted]', headers: { authorization: '[redacted]' }, time: expect.stringMatching(/^\d{4}-.*Z$/) },
    { outcome: 'completed', msg: 'settled' },
  ]);
});
