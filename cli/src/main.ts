#!/usr/bin/env node
import { run } from './program.ts';
import { processWorld } from './world.ts';

// Not process.exit: what is still on its way to a pipe would be lost.
process.exitCode = await run(process.argv.slice(2), processWorld());
