import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each(['--help', '--port', '9000'])('npm start refuses %s, and starts nothing', (argument) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'start.mjs'), argument], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([64, '']);
  expect(stderr).toContain(`not even ${argument}: settings are environment variables`);
});
