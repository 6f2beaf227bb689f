import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { ALLOCATOR } from './allocator.ts';
import { supervise } from './supervisor.ts';

/** Runs the gateway, restarts it when it dies, until it is stopped; then this process ends with its exit code. */
export async function runGateway(program: string, flags: readonly string[] = []): Promise<never> {
  // A terminal that is closed sends SIGHUP, as who wants the files read again does. What tells them apart: the script runner that started us
  // ends with its terminal. Without one, our parent may end.
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const runner = process.ppid;
    setInterval(() => process.ppid !== runner && process.emit('SIGTERM'), 500).unref();
  }
  process.exitCode = await supervise({
    // A separate session: Ctrl-C reaches it once, through us. The channel shows it when we have died.
    launch: () =>
      spawn(process.execPath, [...flags, program], {
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        env: { ...ALLOCATOR, ...process.env },
        detached: process.platform !== 'win32',
      }),
    signals: process,
    wait: (ms) => wait(ms, undefined, { ref: true }),
    now: () => performance.now(),
    say: (line) => process.stderr.write(`\n${line}\n`),
  });
  process.exit();
}
