import Stripe from 'stripe';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { createSandboxStore, WaitingEvent } from './store.ts';

interface WebhooksDeps {
  readonly store: ReturnType<typeof createSandboxStore>;
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Log;
  deliver(rawBody: Buffer, signature: string): Promise<void>;
}

/** Delivers the events of the sandbox, one after the other, as Stripe would. */
export class SandboxWebhooks {
  readonly #deps: WebhooksDeps;
  #telling: Promise<void> = Promise.resolve();

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
  }

  /** Nobody waits for it: an event that is not taken now is told at the next tick. */
  tell(): Promise<void> {
    const { store, log } = this.#deps;
    this.#telling = this.#telling
      .then(async () => {
        for (const event of await store.waitingEvents()) await this.#attempt(event);
      })
      .catch((failure: unknown) => log.warn({ err: failure }, 'the webhooks of the sandbox could not be read'));
    return this.#telling;
  }

  settled(): Promise<void> {
    return this.#telling;
  }

  async #attempt({ body, id }: WaitingEvent): Promise<void> {
    const { store, secret, clock, log, deliver } = this.#deps;
    const timestamp = Math.floor(clock.now() / 1000);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
    try {
      await deliver(Buffer.from(body), signature);
    } catch (failure) {
      // The others are told all the same, as Stripe does.
      log.warn({ err: failure, event: id }, 'a webhook of the sandbox was not taken');
      return;
    }
    await store.markDelivered(id);
  }
}
