import type { Pool } from 'pg';
import { anyOf, rowsOf, run } from '../../../kernel/statements.ts';
import type { UntoldEnd } from '../journal-lines.ts';
import { tables } from '../tables.ts';

/** What a gateway says of holds that it could not free when it ended, so that others free them should it never be back. */
export interface UnfreedNotes {
  add(unfreed: ReadonlyMap<string, UntoldEnd>): Promise<void>;
  /** The owners of those among the holds that are over. */
  ownersAmong(holdIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  forget(holdIds: readonly string[]): Promise<void>;
}

/** Redis may be away for long; what it has lost meanwhile nobody asks for. */
const KEPT_DAYS = 90;

/** In PostgreSQL, which is often there when Redis is not. */
export class UnfreedRecord implements UnfreedNotes {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async add(unfreed: ReadonlyMap<string, UntoldEnd>): Promise<void> {
    if (unfreed.size === 0) return;
    await this.#pool.query(`delete from unfreed_holds where ended_at < now() - interval '${KEPT_DAYS} days'`);
    await this.#pool.query(
      `insert into unfreed_holds (hold_id, owner) select * from unnest($1::text[], $2::text[])
       on conflict (hold_id) do update set owner = excluded.owner, ended_at = now()`,
      [[...unfreed.keys()], [...unfreed.values()].map(({ owner }) => owner)],
    );
  }

  async ownersAmong(holdIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (holdIds.length === 0) return new Map();
    const found = tables.selectFrom('unfreed_holds').select(['hold_id', 'owner']).where('hold_id', '=', anyOf(holdIds));
    return new Map((await rowsOf(this.#pool, found)).map(({ hold_id, owner }) => [hold_id, owner]));
  }

  async forget(holdIds: readonly string[]): Promise<void> {
    if (holdIds.length > 0) await run(this.#pool, tables.deleteFrom('unfreed_holds').where('hold_id', '=', anyOf(holdIds)));
  }
}

/** Where nobody keeps any. */
export const NO_NOTES: UnfreedNotes = { add: async () => {}, ownersAmong: async () => new Map(), forget: async () => {} };
