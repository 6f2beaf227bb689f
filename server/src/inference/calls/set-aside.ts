import type { Pool } from 'pg';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { firstOf, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { recordEvent } from '../../webhooks/index.ts';
import type { Opened } from './circuits.ts';
import { tables } from './tables.ts';

/** What is shorter, as one rate limit, is over before anybody could look. */
const TOLD_FROM_MS = 5_000;

interface SetAsideDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Which deployments are not asked while another one can be, for the webhooks of the gateway: told once when that begins and once when it ends,
 * whichever gateways find out.
 */
export class SetAside {
  readonly #deps: SetAsideDeps;
  /** One after the other: what ends is not written before what began. */
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: SetAsideDeps) {
    this.#deps = deps;
  }

  /** Circuits of these names, which may have been closed since by nobody: their gateways stopped. */
  async names(): Promise<string[]> {
    return (await rowsOf(this.#deps.pool, tables.selectFrom('deployments_set_aside').select('name'))).map(({ name }) => name);
  }

  began({ name, reason, forMs }: Opened): void {
    if (forMs < TOLD_FROM_MS) return;
    this.#write(async () => {
      await inTransaction(this.#deps.pool, async (db) => {
        const row = { name, set_aside_at: new Date(this.#deps.clock.now()) };
        const inserted = tables
          .insertInto('deployments_set_aside')
          .values(row)
          .onConflict((conflict) => conflict.doNothing());
        if ((await run(db, inserted)) === 0) return;
        await recordEvent(db, { accountId: null, type: 'provider.set_aside', data: { ...placeOf(name), reason } });
      });
    });
  }

  ended(name: string): void {
    this.#write(async () => {
      await inTransaction(this.#deps.pool, async (db) => {
        const deleted = tables.deleteFrom('deployments_set_aside').where('name', '=', name).returning('set_aside_at');
        const row = await firstOf(db, deleted);
        if (!row) return;
        const data = { ...placeOf(name), set_aside_at: rfc3339(row.set_aside_at) };
        await recordEvent(db, { accountId: null, type: 'provider.restored', data });
      });
    });
  }

  settled(): Promise<void> {
    return this.#writing;
  }

  #write(work: () => Promise<void>): void {
    const { log } = this.#deps;
    this.#writing = this.#writing
      .then(work)
      .catch((error: unknown) => log.warn({ err: error }, 'webhooks could not be told of a provider’s trouble'));
  }
}

/** A circuit's name is that of its deployment, `openai#1`, and the model's id. */
function placeOf(name: string) {
  const [deployment = '', model = ''] = name.split(/ (.*)/s);
  return { provider: deployment.replace(/#\d+$/, ''), deployment, model };
}
