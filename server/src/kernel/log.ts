import { type DestinationStream, type Logger, pino } from 'pino';
import { rfc3339 } from './clock.ts';

export type Log = Logger;

const SECRETS = [
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-internal-secret',
  'x-web-session-token',
  'cookie',
  'password',
  'token',
  'secret',
  'key',
];

const STDOUT = 1;
const BATCH_BYTES = 12 * 1024;
const FLUSH_MS = 100;

/**
 * Structured logs, one JSON object a line. Values that have a credential under its usual name are redacted.
 *
 * Lines are written in batches, off the event loop, at most 100 ms late: a system call a line costs more than the line. A fatal line is
 * written at once with all before it, and so is everything when the process ends by itself; a normal stop waits for `flushed`.
 */
export function createLog(level: string, destination: DestinationStream = batchedStdout()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${rfc3339(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: '[redacted]' },
    },
    destination,
  );
}

const batchedStdout = (): DestinationStream =>
  pino.destination({ dest: STDOUT, sync: false, minLength: BATCH_BYTES, periodicFlush: FLUSH_MS });

/**
 * For lines that come with every request and consist of our own fields alone: looking for credentials among them would cost more than the
 * line does.
 */
export const withoutRedaction = (log: Log): Log => log.child({}, { redact: [] });

/** Resolves once every line so far is written. A log that cannot be written does not block. */
export const flushed = (log: Log): Promise<void> => new Promise((resolve) => log.flush(() => resolve()));

export const silentLog = (): Log => pino({ level: 'silent' });
