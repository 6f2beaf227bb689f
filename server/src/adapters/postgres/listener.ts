import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Listener, ListenerOptions } from './port.ts';

const HEARTBEAT_MS = 400;
const PATIENCE_MS = 500;
/** How long a new connection is waited for before the server counts as silent. */
const SILENCE_MS = 700;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;

/**
 * Listens on PostgreSQL channels over a connection of its own, for as long as it is not closed. A connection that breaks is
 * replaced; one that has silently died is noticed within a second, by a heartbeat, and not after the hours TCP would take.
 */
export function listen(url: string, options: ListenerOptions): Listener {
  const closing = new AbortController();
  const ended = keepListening(url, options, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await ended;
    },
  };
}

async function keepListening(url: string, options: ListenerOptions, signal: AbortSignal): Promise<void> {
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      await listenOnce(url, options, signal, () => {
        retryMs = FIRST_RETRY_MS;
      });
    } catch (failure) {
      options.log.warn({ err: failure, retryMs }, 'the listening database connection was lost');
    }
    await delay(retryMs, undefined, { signal }).catch(() => {});
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

/** Returns when closed, throws when the connection could not be made or broke. */
async function listenOnce(url: string, options: ListenerOptions, signal: AbortSignal, onConnected: () => void): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    application_name: 'tallygate listen',
  });
  const broken = new Promise<Error>((resolve) => {
    client.on('error', resolve);
    client.on('end', () => resolve(new Error('The server ended the connection.')));
  });
  client.on('notification', ({ channel, payload }) => {
    if (!signal.aborted) options.onNotify(channel, payload ?? '');
  });
  const silence = setTimeout(() => options.onSilent?.(), SILENCE_MS);
  try {
    await client.connect().finally(() => clearTimeout(silence));
    for (const channel of options.channels) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    if (signal.aborted) return;
    onConnected();
    options.onConnected();
    const failure = await Promise.race([broken, heartbeat(client, signal)]);
    if (!failure) return;
    options.onLost();
    throw failure;
  } finally {
    // With a heartbeat unanswered `end` drops the socket, else it says goodbye. Nobody waits for a peer that is not there.
    void client.end().catch(() => {});
  }
}

/** Resolves with the failure of the first beat that is not answered in time, or with nothing once closed. */
async function heartbeat(client: pg.Client, signal: AbortSignal): Promise<Error | undefined> {
  for (;;) {
    try {
      await delay(HEARTBEAT_MS, undefined, { signal });
    } catch {
      return undefined;
    }
    const answered = client.query('select 1').then(
      () => true,
      () => false,
    );
    if (!(await Promise.race([answered, patience()]))) return new Error('The server does not answer.');
  }
}

/** After a stall of our own the timer comes due before the answer that has been waiting is read: hence the second look. */
async function patience(): Promise<false> {
  await delay(PATIENCE_MS, undefined, { ref: false });
  await delay(PATIENCE_MS / 10, undefined, { ref: false });
  return false;
}
