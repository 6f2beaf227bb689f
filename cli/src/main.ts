#!/usr/bin/env node
import { VERSION } from './version.ts';

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // Installers and scripts ask for it on every run: it needs no program around it.
  process.stdout.write(`${VERSION}\n`);
} else {
  const [{ run }, { processWorld }] = await Promise.all([import('./program.ts'), import('./process-world.ts')]);
  // Not process.exit: what is still on its way to a pipe would be lost.
  process.exitCode = await run(argv, processWorld());
}
