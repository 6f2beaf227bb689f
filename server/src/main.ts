import cluster from 'node:cluster';
import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { RunningServer } from './app/index.ts';
import { COMPILED_EARLIER } from './kernel/compiled-earlier.ts';

const EXIT_FAILED = 1;
const EXIT_CONFIG = 78; // EX_CONFIG of sysexits.h

// Before anything is loaded that serves requests.
for (const flag of COMPILED_EARLIER) setFlagsFromString(flag);

const stop = Promise.withResolvers<void>();
/** A service manager, the script runner and the supervisor each send a signal for one and the same stop. */
const ONE_STOP_MS = 2_000;
let firstStopTick: number | undefined;
// A signal after that ends the process at once: its sender has waited long enough.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    firstStopTick ??= performance.now();
    stop.resolve();
    if (performance.now() - firstStopTick > ONE_STOP_MS) process.exit(128 + constants.signals[signal]);
  });
let running: RunningServer | undefined;
// From the beginning, since a SIGHUP that nobody handles ends a process; one that is still starting has just read its files. What is read again
// workers hear of by the database.
process.on('SIGHUP', () => void (cluster.isPrimary && running?.reload()));
// Whoever would start it again is gone: nobody could stop it any more.
process.once('disconnect', () => stop.resolve());

const config = await settings();
await (cluster.isWorker ? serveAsWorker() : serve());

/** Read before the rest is loaded, which takes longer than anything else at a start: a mistyped setting is told at once. */
async function settings() {
  const { ConfigError, readConfig } = await import('./app/config.ts');
  try {
    return readConfig();
  } catch (error) {
    return refuse(error, error instanceof ConfigError, EXIT_CONFIG);
  }
}

async function serve(): Promise<void> {
  const { AddressInUse, ConfigError, DataDirInUse, greeting, MasterKeyMissing, startServer } = await import('./app/index.ts');
  try {
    const server = await startServer(config, () => {
      process.exitCode = EXIT_FAILED;
      stop.resolve();
    });
    running = server;
    // Before it is said: whoever reads it may count on being started again from then on.
    await told('listening');
    process.stdout.write(greeting(server, config.dataDir));
    // Node itself keeps it at the end only, which a killed process never sees.
    flushCompileCache();
    await stop.promise;
    process.stdout.write('\nStopping: running requests may end.\n');
    await server.close();
    process.exit();
  } catch (error) {
    const isOfConfig = error instanceof ConfigError || error instanceof MasterKeyMissing;
    refuse(error, isOfConfig || error instanceof AddressInUse || error instanceof DataDirInUse, isOfConfig ? EXIT_CONFIG : EXIT_FAILED);
  }
}

/** A process of a gateway with several: what is said of it, the one that has started it says. */
async function serveAsWorker(): Promise<void> {
  const { configOfWorker, joinAuthority, startServer } = await import('./app/index.ts');
  const ended = () => process.exit(EXIT_FAILED);
  try {
    const authority = await joinAuthority(ended);
    const starting = startServer(configOfWorker(config, authority.welcome), ended, undefined, undefined, authority);
    const server = await Promise.race([starting, stop.promise]);
    await stop.promise;
    // Told to stop before it serves, it has nothing to bring to an end.
    await server?.close();
    process.exit();
  } catch (error) {
    refuse(error, false, EXIT_FAILED);
  }
}

/** Hands a message to whoever started us, where somebody did who listens. */
function told(message: string): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, () => resolve());
  });
}

/** @param isExpected whether its message says all that an operator has to know */
function refuse(error: unknown, isExpected: boolean, exitCode: number): never {
  const said = error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`\nTallygate did not start. ${said}\n`);
  process.exit(exitCode);
}
