import { LaneAuthority } from '../../adapters/lanes/authority/lane-authority.ts';
import { unfinishedAmong } from '../../inference/batches/index.ts';
import type { KeptState } from '../../receipts/index.ts';
import type { Billing } from '../billing.ts';
import type { Foundation } from '../foundation.ts';
import type { Serving } from '../serving.ts';
import { Fleet } from './fleet.ts';

interface FleetParts {
  readonly foundation: Foundation;
  readonly billing: Billing;
  readonly serving: Pick<Serving, 'nonces' | 'inference'>;
  readonly keptLog: KeptState;
  readonly internalSecret: string;
  readonly metricsToken: string;
}

/** What ending the last connections takes in a worker, and its own end. */
const STOP_SLACK_MS = 20_000;

/** The workers of this process; undefined where it serves requests itself. */
export function openFleet({ foundation, billing, serving, keptLog, internalSecret, metricsToken }: FleetParts): Fleet | undefined {
  const { config, authority, databaseUrl, clock, closing, log, pool, metrics } = foundation;
  if (authority || config.workers === 1) return undefined;
  const { lanes, refunds, corrections, booksState, write } = billing;
  const { nonces, inference } = serving;
  const stopMs = config.drain.delayMs + config.drain.timeoutMs + STOP_SLACK_MS;
  const giveBack = async () => {
    await write();
    // In this order: a refund may be one of a correction.
    await corrections.resume();
    await refunds.resume();
  };
  const laneAuthority = new LaneAuthority({ lanes, log, giveBack, neededAmong: (ids) => unfinishedAmong(pool, ids) });
  closing.add('lanes of workers', async () => laneAuthority.close());
  const fleet = new Fleet({
    ...{ count: config.workers, config },
    lanes: laneAuthority,
    operations: {
      welcome: () => ({ databaseUrl, gatewayId: inference.gatewayId, internalSecret, metricsToken }),
      now: () => clock.now(),
      isFirstNonce: (nonce, now) => nonces.isFirst(nonce, now),
      ...{ write, booksState },
      readLogState: () => keptLog.read(),
      keepLogState: (note) => keptLog.keep(note),
      renderMetrics: async () => metrics.render(await fleet.metrics()),
    },
    ...{ log, stopMs },
  });
  closing.add('workers', () => fleet.close(), stopMs);
  return fleet;
}
