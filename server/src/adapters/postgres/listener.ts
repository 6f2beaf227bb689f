import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Listener, ListenerOptions } from './port.ts';

const HEARTBEAT_MS = 400;
const PATIENCE_MS = 500;
/** So long after its last answer the server counts as silent: a request that waits for it is refused within two seconds. */
const SILENT_AFTER_MS = 1_500;
/** How long a new connection is waited for before that: only the one before it may be gone. */
const LEAST_CONNECT_MS = 500;
const LOOK_AGAIN_MS = 50;
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
  let heardTick = performance.now();
  const onHeard = () => {
    retryMs = FIRST_RETRY_MS;
    heardTick = performance.now();
  };
  while (!signal.aborted) {
    try {
      await listenOnce(url, options, signal, { heardTick, onHeard });
    } catch (failure) {
      options.log.warn({ err: failure, retryMs }, 'the listening database connection was lost');
    }
    await delay(retryMs, undefined, { signal }).catch(() => {});
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

interface Hearing {
  /** When the server answered last. */
  readonly heardTick: number;
  /** Called for every answer. */
  readonly onHeard: () => void;
}

/** Returns when closed, throws when the connection could not be made or broke. */
async function listenOnce(url: string, options: ListenerOptions, signal: AbortSignal, { heardTick, onHeard }: Hearing): Promise<void> {
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
  const silence = sayWhileSilent(options, Math.max(heardTick + SILENT_AFTER_MS, performance.now() + LEAST_CONNECT_MS));
  try {
    await client.connect().finally(() => clearInterval(silence));
    for (const channel of options.channels) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    if (signal.aborted) return;
    onHeard();
    options.onConnected();
    const failure = await Promise.race([broken, heartbeat(client, signal, onHeard)]);
    if (!failure) return;
    options.onLost();
    throw failure;
  } finally {
    // With a heartbeat unanswered `end` drops the socket, else it says goodbye. Nobody waits for a peer that is not there.
    void client.end().catch(() => {});
  }
}

/** Again and again, since other connections may have been answered a moment before. Stalls of our own are told apart as in {@link patience}. */
function sayWhileSilent({ onSilent }: ListenerOptions, fromTick: number): NodeJS.Timeout {
  let looks = 0;
  return setInterval(() => {
    if (performance.now() < fromTick) return;
    looks += 1;
    if (looks > 1) onSilent?.();
  }, LOOK_AGAIN_MS);
}

/** Resolves with the failure of the first beat that is not answered in time, or with nothing once closed. */
async function heartbeat(client: pg.Client, signal: AbortSignal, onHeard: () => void): Promise<Error | undefined> {
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
    onHeard();
  }
}

/** After a stall of our own the timer comes due before the answer that has been waiting is read: hence the second look. */
async function patience(): Promise<false> {
  await delay(PATIENCE_MS, undefined, { ref: false });
  await delay(PATIENCE_MS / 10, undefined, { ref: false });
  return false;
}
