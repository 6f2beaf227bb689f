import pg from 'pg';
import * as z from 'zod';
import { checkedRows } from '../../kernel/statements.ts';

/** What is asked for longer is looked at. */
const LONG_MS = 700;
const LOOK_MS = 400;
/** A statement that the server is at work on is not looked at again for so long. */
const AT_WORK_MS = 5_000;
const CONNECT_MS = 1_000;

/** What pg calls private, and what its own pool ends connections by: `end` would wait for the server's goodbye. */
interface WithSocket {
  readonly processID: number | null;
  readonly connection: { readonly stream: { destroy(): unknown } };
}

/** Ends the connection at once; whoever waits on it is told. */
export const breakOff = (client: pg.Client): unknown => (client as unknown as WithSocket).connection.stream.destroy();
const pidOf = (client: pg.Client): number | null => (client as unknown as WithSocket).processID;

const Activity = z.object({ pid: z.int(), state: z.string().nullable() });

interface Busy {
  /** Since when it waits for an answer. */
  readonly sinceTick: number;
  /** Not looked at before. */
  nextLookTick: number;
  /** The server said that it is not at work on anything for this connection. */
  isSuspect: boolean;
}

/**
 * A firewall or a NAT that forgets a connection ends it for nobody: whatever is asked over it waits until TCP gives up, a quarter of an hour. A
 * slow statement looks the same from here, so the server is asked, over a connection of its own, what it is at work on. What it has not heard
 * of twice in a row is broken off, and with it what has been idle since before: it goes the same way.
 */
export class ForgottenConnections {
  readonly #url: string;
  readonly #busy = new Map<pg.Client, Busy>();
  /** When each was last heard of. */
  readonly #idle = new Map<pg.Client, number>();
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(url: string) {
    this.#url = url;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  watch(client: pg.Client): void {
    const { query } = client;
    client.query = ((...asked: unknown[]) => {
      if (!this.#busy.has(client)) this.#asked(client);
      return Reflect.apply(query, client, asked);
    }) as typeof query;
    client.on('drain', () => {
      this.#busy.delete(client);
      this.#idle.set(client, performance.now());
    });
    client.once('end', () => {
      this.#busy.delete(client);
      this.#idle.delete(client);
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #asked(client: pg.Client): void {
    const sinceTick = performance.now();
    this.#idle.delete(client);
    this.#busy.set(client, { sinceTick, nextLookTick: sinceTick + LONG_MS, isSuspect: false });
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    const now = performance.now();
    const long = [...this.#busy].filter(([client, { nextLookTick }]) => nextLookTick <= now && pidOf(client) !== null);
    if (long.length === 0) return;
    this.#isLooking = true;
    try {
      const atWork = await this.#pidsAtWork(long.flatMap(([client]) => pidOf(client) ?? []));
      if (atWork) for (const [client, busy] of long) this.#judge(client, busy, atWork.has(pidOf(client) ?? 0));
    } finally {
      this.#isLooking = false;
    }
  }

  #judge(client: pg.Client, busy: Busy, isAtWork: boolean): void {
    // It has been answered meanwhile.
    if (this.#busy.get(client) !== busy) return;
    if (isAtWork) Object.assign(busy, { isSuspect: false, nextLookTick: performance.now() + AT_WORK_MS });
    else if (!busy.isSuspect) busy.isSuspect = true;
    else {
      for (const [other, heardTick] of this.#idle) if (heardTick < busy.sinceTick) breakOff(other);
      breakOff(client);
    }
  }

  /** Undefined where the server cannot be asked, or does not know these connections: there is a pooler in between, which has its own. */
  async #pidsAtWork(pids: readonly number[]): Promise<ReadonlySet<number> | undefined> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      application_name: 'tallygate look',
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const rows = await checkedRows(client, Activity, 'select pid, state from pg_stat_activity where pid = any($1)', [pids]);
      if (rows.length === 0) return undefined;
      return new Set(rows.filter(({ state }) => !state?.startsWith('idle')).map(({ pid }) => pid));
    } catch {
      return undefined;
    } finally {
      void client.end().catch(() => {});
    }
  }
}
