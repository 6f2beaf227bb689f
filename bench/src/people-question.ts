import type pg from 'pg';
import { findPeople } from '../../server/src/community/people/index.ts';

/** Whoever looks after people. */
export const OWNER = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

export type Filter = Parameters<typeof findPeople>[1];
export interface Question {
  readonly filter: Filter;
  readonly offset?: number;
}

export const asked = ({ filter, offset = 0 }: Question): string =>
  `${JSON.stringify(filter)}${offset > 0 ? ` from ${offset.toLocaleString('en')}` : ''}`;

export interface Timed {
  /** In ms, the shortest first. */
  readonly times: readonly number[];
  readonly median: number;
  /** How many fit; with a tilde where that was worked out. */
  readonly total: string;
}

/** Asked once more than it counts. */
export async function timesOf(pool: pg.Pool, { filter, offset = 0 }: Question, rounds: number): Promise<Timed> {
  const times: number[] = [];
  let total = '';
  for (let round = 0; round <= rounds; round++) {
    const timed = timedPool(pool);
    const found = await findPeople(timed.pool, filter, { limit: 50, offset });
    if (round > 0) times.push(timed.spentMs());
    total = `${found.isExact ? '' : '~'}${found.total.toLocaleString('en')}`;
  }
  times.sort((a, b) => a - b);
  return { times, median: times[Math.floor(times.length / 2)] ?? Number.NaN, total };
}

/** A pool that adds up what its connections wait for the database. */
function timedPool(pool: pg.Pool): { pool: pg.Pool; spentMs: () => number } {
  let spent = 0;
  const timing = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const member: unknown = Reflect.get(of, name);
        if (typeof member !== 'function') return member;
        if (name === 'connect') return async () => timing(await pool.connect());
        if (name !== 'query') return member.bind(of);
        return async (...args: unknown[]) => {
          const startedAt = performance.now();
          try {
            return await Reflect.apply(member, of, args);
          } finally {
            spent += performance.now() - startedAt;
          }
        };
      },
    });
  return { pool: timing(pool), spentMs: () => spent };
}
