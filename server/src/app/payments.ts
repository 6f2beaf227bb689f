import type { Pool } from 'pg';
import type { PaymentProvider } from '../adapters/payment/port.ts';
import { createSandboxPayments } from '../adapters/payment/sandbox/index.ts';
import type { SandboxPages } from '../adapters/payment/sandbox/pages.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Plans } from '../money/plans/index.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';

const TICK_MS = 60_000;
const PROVISION_AGAIN_MS = 60_000;

interface PaymentsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** Known once the port is bound. */
  readonly publicUrl: () => string;
}

export interface OpenPayments {
  readonly provider: PaymentProvider;
  /** Of the sandbox; undefined with Stripe. */
  readonly pages: SandboxPages | undefined;
  /** Makes the plans known to the provider, and lets the sandbox's time pass. */
  start(plans: Plans, closing: Closing): Promise<void>;
}

/** Stripe where there is a key, else the sandbox. */
export async function openPayments(stripe: Config['stripe'], { pool, clock, log, publicUrl }: PaymentsDeps): Promise<OpenPayments> {
  if (stripe) {
    // Stripe's client takes 15 MB of memory: loaded where it is wanted.
    const { createStripePayments } = await import('../adapters/payment/stripe.ts');
    const provider = createStripePayments({ ...stripe, clock });
    return {
      provider,
      pages: undefined,
      // Stripe may be down while the gateway starts: inference does not need it.
      start: async (plans, closing) => {
        let isDone = false;
        const provision = async () => {
          if (isDone) return;
          await plans.provision();
          isDone = true;
        };
        await provision().catch((failure: unknown) => log.error({ err: failure }, 'the plans are not at Stripe yet'));
        if (!isDone) closing.every(PROVISION_AGAIN_MS, 'provisioning of plans', provision);
      },
    };
  }
  let receive: ((rawBody: Buffer, signature: string) => Promise<void>) | undefined;
  const sandbox = await createSandboxPayments({
    pool,
    clock,
    log,
    publicUrl,
    deliver: async (rawBody, signature) => {
      if (!receive) throw new Error('There is no listener yet');
      await receive(rawBody, signature);
    },
  });
  return {
    provider: sandbox.provider,
    pages: sandbox.pages,
    start: async (plans, closing) => {
      receive = plans.events.receive;
      await plans.provision();
      // Work that became due during downtime comes first: else a plan would run beyond its end.
      await sandbox.tick().catch((failure: unknown) => log.error({ err: failure }, 'the payment sandbox is behind the time'));
      closing.every(TICK_MS, 'time of the payment sandbox', () => sandbox.tick());
    },
  };
}
