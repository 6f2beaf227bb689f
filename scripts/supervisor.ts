import type { ChildProcess } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';

/** EX_CONFIG of sysexits.h: a setting is wrong, and will be the next time too. */
const EXIT_CONFIG = 78;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** Who has served for so long did not die of its start. */
const STABLE_MS = 60_000;
/** That stop it. */
const STOPS = ['SIGINT', 'SIGTERM'] as const;
/** At which the program reads its files again. */
const RELOAD = 'SIGHUP';

interface World {
  /** Starts the program; it sends the message `listening` once it serves. */
  launch(): Pick<ChildProcess, 'connected' | 'kill' | 'on' | 'once'>;
  /** The signals that the supervisor gets, and passes on. */
  readonly signals: Pick<EventEmitter, 'on'>;
  wait(ms: number): Promise<void>;
  /** Milliseconds. */
  now(): number;
  say(line: string): void;
}

/**
 * Runs a program, and restarts it when it crashes or is killed: out of memory, by a defect, with `kill -9`. One that ends by itself or was
 * stopped is not restarted; nor is one that failed to start, since an operator has to look at that.
 *
 * @returns the exit code
 */
export async function supervise({ launch, signals, wait, now, say }: World): Promise<number> {
  let hasServed = false;
  let isStopping = false;
  let delayMs = FIRST_DELAY_MS;
  let stopWaiting = () => {};
  let child: ReturnType<World['launch']> | undefined;
  for (const signal of STOPS)
    signals.on(signal, () => {
      isStopping = true;
      child?.kill(signal);
      stopWaiting();
    });
  // Where none runs just now, the next one reads them at its start.
  signals.on(RELOAD, () => child?.kill(RELOAD));
  for (;;) {
    let servedFrom: number | undefined;
    child = launch();
    child.on('message', (message) => {
      if (message === 'listening') servedFrom = now();
    });
    const ended = await endOf(child);
    child = undefined;
    hasServed ||= servedFrom !== undefined;
    if (isStopping || !hasServed || ended.code === 0 || ended.code === EXIT_CONFIG) return exitCodeOf(ended);
    if (servedFrom !== undefined && now() - servedFrom >= STABLE_MS) delayMs = FIRST_DELAY_MS;
    say(`Tallygate ended (${ended.signal ?? `exit code ${ended.code}`}). It is started again in ${delayMs / 1000} s.`);
    const told = new Promise<void>((resolve) => {
      stopWaiting = () => resolve();
    });
    await Promise.race([wait(delayMs), told]);
    if (isStopping) return exitCodeOf(ended);
    delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
  }
}

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const endOf = (child: ReturnType<World['launch']>): Promise<End> =>
  new Promise((resolve) => {
    // What it sent before it ended may be read after its end is known.
    child.once('exit', (code, signal) => {
      if (child.connected) child.once('disconnect', () => resolve({ code, signal }));
      else resolve({ code, signal });
    });
    child.once('error', () => resolve({ code: 1, signal: null }));
  });

/** The exit code of shells for a signal. */
const exitCodeOf = ({ code, signal }: End): number => code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
