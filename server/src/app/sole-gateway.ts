import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import * as z from 'zod';
import type { Log } from '../kernel/log.ts';
import { checkedRow } from '../kernel/statements.ts';

/** "tallylan" in ASCII. */
const LOCK_KEY = '8386662065640595822';
const Locked = z.object({ locked: z.boolean() });
/** The connection of a gateway that was killed a moment ago may take this long to be noticed as gone. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 100;

interface SoleGatewayOptions {
  readonly url: string;
  readonly log: Log;
  /** Another gateway may run on the database now, so this one has to stop. */
  onLost(): void;
  /**
   * The database is a child of this process that is started again when it dies, and nothing is admitted until then: the lock is taken
   * again instead of given up with the connection.
   */
  readonly isEmbedded?: boolean;
  /** Lanes are in Redis: other gateways may run on the database, as long as theirs are there too. */
  readonly mayShare?: boolean;
  /** How long to wait for a lock that another connection holds. Default: five seconds. */
  readonly patienceMs?: number;
}

/** The lock, for as long as this process lives. */
export interface SoleGateway {
  release(): Promise<void>;
}

/**
 * Caps are enforced in the memory of one process, so only one gateway may run on a database. This holds an advisory lock of it for as long as the
 * process lives. The embedded database is locked as well: `DATABASE_URL` of another gateway could point at it. Gateways whose lanes are in
 * Redis share the lock, and keep out those whose lanes are not.
 *
 * @throws when another gateway runs on the database
 */
export async function beSoleGateway(options: SoleGatewayOptions): Promise<SoleGateway> {
  const { log, onLost, isEmbedded = false, mayShare = false } = options;
  const closing = new AbortController();
  let held: pg.Client;

  const lost = (error?: Error): void => {
    log.fatal({ err: error }, 'the lock on the database is lost; stopping, since another gateway may take over');
    onLost();
  };
  const onBroken = (error?: Error): void => {
    if (closing.signal.aborted) return;
    if (isEmbedded || mayShare) void takeAgain();
    else lost(error);
  };
  const takeAgain = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        held = await takeLock(options, onBroken);
        if (closing.signal.aborted) await held.end();
        return;
      } catch (failure) {
        if (failure instanceof AnotherGateway) return lost(failure);
        // The database is not back yet. If it never comes back, the code that starts it reports that.
        await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  };

  held = await takeLock(options, onBroken);
  return {
    release: async () => {
      closing.abort();
      await held.end().catch(() => {});
    },
  };
}

class AnotherGateway extends Error {
  override readonly name = 'AnotherGateway';

  constructor(mayShare: boolean) {
    super(
      mayShare
        ? 'Another gateway runs on this database without REDIS_URL. Its caps are held in its process, so stop that one first.'
        : 'Another gateway runs on this database. Caps are held in one process, so stop that one first, or set REDIS_URL for both.',
    );
  }
}

/**
 * A connection that holds the lock.
 * @param onBroken called once when the connection breaks later
 * @throws AnotherGateway when the lock is still taken after `patienceMs`
 */
async function takeLock(
  { url, patienceMs = PATIENCE_MS, mayShare = false }: SoleGatewayOptions,
  onBroken: (error?: Error) => void,
): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'tallygate gateway lock' });
  let isHeld = false;
  const broken = (error?: Error) => {
    if (!isHeld) return;
    isHeld = false;
    onBroken(error);
  };
  client.on('error', broken);
  client.on('end', () => broken());
  await client.connect();
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const lock = mayShare ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
    if ((await checkedRow(client, Locked, `select ${lock}($1) as locked`, [LOCK_KEY]))?.locked) break;
    if (performance.now() >= deadline) {
      await client.end();
      throw new AnotherGateway(mayShare);
    }
    await delay(RETRY_MS);
  }
  isHeld = true;
  return client;
}
