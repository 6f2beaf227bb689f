import type { contract, Health } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Handlers } from '../identity/index.ts';

export const VERSION = '0.1.0';

/** Whether this process takes requests. */
export class Readiness {
  #isDraining = false;

  drain(): void {
    this.#isDraining = true;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }
}

const DATABASE_PATIENCE_MS = 2_000;

export const healthRoutes = (readiness: Readiness, pool: Pool): Handlers<typeof contract.discovery> => ({
  root: async () => ({
    status: 200,
    body: { name: 'Tallygate', status: readiness.isDraining ? 'draining' : 'ok', version: VERSION, documentation: '/openapi.json' },
  }),
  live: async () => ({ status: 200, body: { status: 'ok', checks: {} } }),
  ready: async () => {
    const health = await check(readiness, pool);
    return health.status === 'ok' ? { status: 200, body: health } : { status: 503, body: health };
  },
});

async function check(readiness: Readiness, pool: Pool): Promise<Health> {
  if (readiness.isDraining) return { status: 'draining', checks: {} };
  const answered = pool.query('select 1').then(
    () => true,
    () => false,
  );
  const late = new Promise<false>((resolve) => setTimeout(resolve, DATABASE_PATIENCE_MS, false).unref());
  const isThere = await Promise.race([answered, late]);
  return { status: isThere ? 'ok' : 'unavailable', checks: { database: isThere ? 'ok' : 'unavailable' } };
}
