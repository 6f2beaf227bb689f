import { contract } from '@tallygate/contract';
import type { Timer } from '../adapters/timers/port.ts';
import { openGuardedHttp } from '../adapters/webhooks/guarded-http.ts';
import {
  DELIVERIES_DUE,
  Deliveries,
  deliverDue,
  forgetMessages,
  MESSAGES_UNPLACED,
  placeMessages,
  Webhooks,
  webhookRoutes,
} from '../webhooks/index.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Readiness } from './health.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';

const HOUR_MS = 3_600_000;
/** A slow endpoint keeps one run busy; others go on beside it. */
const ENDPOINTS_AT_ONCE = 16;

interface WebhooksDeps {
  readonly foundation: Foundation;
  readonly accounts: Accounts;
  readonly readiness: Readiness;
}

/** Events, and where they are sent. */
export function openWebhooks({ foundation, accounts: { box }, readiness }: WebhooksDeps): {
  readonly endpoints: readonly Endpoint[];
  readonly timers: readonly Timer[];
} {
  const { pool, clock, config, closing } = foundation;
  const sender = openGuardedHttp({ allowed: config.webhooks.allowedNetworks });
  closing.add('webhooks', () => sender.close());
  return {
    endpoints: endpointsOf(
      contract.webhooks,
      webhookRoutes({
        webhooks: new Webhooks({ pool, box, sender, clock }),
        deliveries: new Deliveries({ pool, clock }),
        events: { pool, isClosing: () => readiness.isDraining },
      }),
    ),
    timers: [
      { name: 'webhooks-place-messages', due: MESSAGES_UNPLACED, run: ({ signal }) => placeMessages({ pool, clock }, signal) },
      {
        name: 'webhooks-deliver',
        due: DELIVERIES_DUE,
        atOnce: ENDPOINTS_AT_ONCE,
        run: ({ signal, log }) => deliverDue({ pool, box, sender, clock, log }, signal),
      },
      {
        name: 'webhooks-forget-messages',
        everyMs: HOUR_MS,
        run: ({ signal }) => forgetMessages(pool, new Date(clock.now() - config.webhooks.keptMs), signal),
      },
    ],
  };
}
