import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { Gateway } from './gateway.ts';

/** PostgreSQL takes the counts of an idle connection over after 10 s: what the start asked is counted by then. */
const REST_MS = 12_000;
const WATCHED_MS = 10_000;
const MOST_A_SECOND = 10;

test('an idle gateway sends almost no statements to its database', async () => {
  const gateway = await Gateway.start({ process: 'shared' });
  const client = new pg.Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  try {
    const statements = async () => {
      const { rows } = await client.query<{ n: string }>(
        'select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()',
      );
      return Number(rows[0]?.n);
    };
    await delay(REST_MS);
    const before = await statements();
    await delay(WATCHED_MS);
    expect((await statements()) - before).toBeLessThan((MOST_A_SECOND * WATCHED_MS) / 1_000);
  } finally {
    await client.end();
    await gateway.remove();
  }
});
