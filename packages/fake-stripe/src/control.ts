import { noSuch } from './fault.ts';
import type { Form } from './form.ts';
import { advanceTo } from './passage-of-time.ts';
import { closeDispute, openDispute } from './refunds.ts';
import type { Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

/** A request that goes wrong on its way: the answer is another one, or is lost after everything was done. */
export type Fault = { readonly status: number } | 'lost_answer' | 'reset';

export interface Controls {
  readonly world: World;
  readonly webhooks: Webhooks;
  /** For the next requests, one each. */
  readonly faults: Fault[];
}

/** `POST /_control/…`: controls that Stripe does not have. Form-encoded like the API, for tests in other processes. */
export async function control({ world, webhooks, faults }: Controls, path: string, form: Form): Promise<object> {
  switch (path) {
    case '/_control/clock': {
      const seconds = form.integer('advance_seconds');
      advanceTo(world, seconds === undefined ? Number(form.required('to')) : world.now() + seconds);
      return { now: world.now() };
    }
    case '/_control/disputes':
      return openDispute(world, form);
    case '/_control/disputes/close':
      return closeDispute(world, form.required('dispute'), form.choice('outcome', ['won', 'lost']) ?? 'lost');
    case '/_control/dunning':
      world.dunningEnd = form.choice('end', ['canceled', 'unpaid']) ?? 'canceled';
      return { end: world.dunningEnd };
    case '/_control/fault': {
      const status = form.integer('status');
      const kind = form.choice('kind', ['lost_answer', 'reset'] as const) ?? 'reset';
      faults.push(status === undefined ? kind : { status });
      return { waiting: faults.length };
    }
    case '/_control/webhooks/hold':
      webhooks.hold();
      return { held: webhooks.heldCount };
    case '/_control/webhooks/release': {
      const dropped = new Set(form.texts('drop'));
      await webhooks.release({
        order: form.choice('order', ['in_order', 'reversed', 'shuffled']) ?? 'in_order',
        times: form.integer('times') ?? 1,
        drop: ({ id, type }) => dropped.has(id) || dropped.has(type),
      });
      return { deliveries: webhooks.deliveries };
    }
    case '/_control/webhooks/redeliver':
      await webhooks.redeliver();
      return { deliveries: webhooks.deliveries };
    case '/_control/webhooks/delay':
      webhooks.delayMs = form.integer('ms') ?? 0;
      return { ms: webhooks.delayMs };
    case '/_control/webhooks/settled':
      await webhooks.settled();
      return { deliveries: webhooks.deliveries };
    default:
      throw noSuch('control', path);
  }
}
