import type { EntityManager } from '@mikro-orm/postgresql';
import { repeatCollisions } from '../../kernel/collisions.ts';
import type { Log } from '../../kernel/log.ts';
import { inUnit } from '../../kernel/statements.ts';

const FLUSH_INTERVAL_MS = 60_000;

/** Remembers when keys were used and writes it down in batches, at most once a minute for each key. */
export interface LastUse {
  note(keyId: string, at: Date): void;
  /** Writes what was noted since the last time. */
  flush(): Promise<void>;
  /** Stops the timer and writes the rest. */
  close(): Promise<void>;
}

export function createLastUse({ em, log }: { em: EntityManager; log: Log }): LastUse {
  let noted = new Map<string, Date>();
  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS).unref();

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const batch = JSON.stringify([...noted].map(([id, at]) => ({ id, at })));
    noted = new Map();
    try {
      // `greatest`, since several instances write the same key in any order.
      await repeatCollisions(() =>
        inUnit(em.fork()).query(
          `update api_keys set last_used_at = greatest(api_keys.last_used_at, used.at)
             from jsonb_to_recordset($1::jsonb) as used (id uuid, at timestamptz) where api_keys.id = used.id`,
          [batch],
        ),
      );
    } catch (error) {
      // A lost minute of "last used" is not worth keeping anything from anybody.
      log.warn({ err: error }, 'could not write when keys were last used');
    }
  }

  return {
    note: (keyId, at) => void noted.set(keyId, at),
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
