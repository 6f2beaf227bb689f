import { type Logger, pino } from 'pino';

export type Log = Logger;

const SECRETS = ['authorization', 'x-api-key', 'x-internal-secret', 'x-web-session-token', 'cookie', 'password', 'token', 'secret', 'key'];

/** Structured logs, one JSON object a line. Whatever carries a credential under its usual name is redacted. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: '[redacted]' },
  });
}

export const silentLog = (): Log => pino({ level: 'silent' });
