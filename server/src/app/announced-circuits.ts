import type { Pool } from 'pg';
import { type Circuits, InProcessCircuits, type Opened } from '../inference/calls/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';

/** Says `<milliseconds> <circuit>`: a duration, since the clocks of two machines differ. */
export const CIRCUITS_CHANNEL = 'tallygate_circuits';

interface CircuitsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly onOpened: (opened: Opened) => void;
  readonly onClosed: (name: string) => void;
}

/**
 * Circuit breakers that announce every opening to the other gateways, over the shared database: if one has detected a failing
 * provider, the others need not fail requests of their own. A lost announcement is harmless.
 */
export function announcedCircuits({ pool, clock, log, onOpened, onClosed }: CircuitsDeps): {
  readonly circuits: Circuits;
  heard(payload: string): void;
} {
  const circuits = new InProcessCircuits((opened) => {
    const { name, forMs } = opened;
    onOpened(opened);
    pool
      .query('select pg_notify($1, $2)', [CIRCUITS_CHANNEL, `${Math.ceil(forMs)} ${name}`])
      .catch((error: unknown) => log.warn({ err: error }, 'the other gateways could not be told of a provider’s trouble'));
  }, onClosed);
  return {
    circuits,
    heard(payload) {
      const at = payload.indexOf(' ');
      const forMs = Number(payload.slice(0, at));
      if (Number.isFinite(forMs) && forMs > 0) circuits.openedElsewhere(payload.slice(at + 1), forMs, clock.now());
    },
  };
}
