import { setTimeout as delay } from 'node:timers/promises';
import Stripe from 'stripe';
import type { FakeEvent, FakeWebhookEndpoint } from './records.ts';
import type { World } from './world.ts';

/** One attempt to deliver an event to an endpoint. */
export interface Delivery {
  readonly eventId: string;
  readonly type: string;
  readonly url: string;
  /** Undefined without an answer. */
  readonly status: number | undefined;
}

export interface Release {
  /** Default `in_order`. */
  readonly order?: 'in_order' | 'reversed' | 'shuffled';
  /** How often each event is delivered. Default 1. */
  readonly times?: number;
  /** Events that are never delivered; the events list still has them. */
  readonly drop?: (event: { readonly id: string; readonly type: string }) => boolean;
  /** For `shuffled`: 0 ≤ x < 1, as Math.random. */
  readonly random?: () => number;
}

interface Letter {
  readonly event: FakeEvent;
  readonly endpoint: FakeWebhookEndpoint;
}

/** Delivers events to endpoints, one at a time and in order, unless configured otherwise. */
export class Webhooks {
  /** Every attempt, in order. */
  readonly deliveries: Delivery[] = [];
  /** Before each attempt. */
  delayMs = 0;
  readonly #world: World;
  readonly #stop = new AbortController();
  #held: Letter[] | undefined;
  #refused: Letter[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor(world: World) {
    this.#world = world;
  }

  tell(events: readonly FakeEvent[]): void {
    const endpoints = this.#world.all('webhook_endpoint');
    const letters = events.flatMap((event) =>
      endpoints
        .filter(({ enabled_events: enabled, status }) => status === 'enabled' && (enabled.includes('*') || enabled.includes(event.type)))
        .map((endpoint) => ({ event, endpoint })),
    );
    if (this.#held) this.#held.push(...letters);
    else this.#post(letters);
  }

  /** Keeps events back until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  /** The number of held back events. */
  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  /** Delivers held back events, and later ones at once. Resolves when all deliveries were attempted. */
  async release({ order = 'in_order', times = 1, drop = () => false, random = Math.random }: Release = {}): Promise<void> {
    const kept = (this.#held ?? []).filter(({ event }) => !drop(event));
    this.#held = undefined;
    const letters = Array.from({ length: times }, () => kept).flat();
    if (order === 'reversed') letters.reverse();
    if (order === 'shuffled') shuffle(letters, random);
    this.#post(letters);
    await this.settled();
  }

  /** Delivers again what no endpoint accepted (no answer, or no 2xx), as Stripe does for three days. */
  async redeliver(): Promise<void> {
    await this.settled();
    this.#post(this.#refused.splice(0));
    await this.settled();
  }

  /** Delivers one event again, accepted or not. */
  async resend(eventId: string): Promise<void> {
    const event = this.#world.find('event', eventId);
    this.#post(this.#world.all('webhook_endpoint').map((endpoint) => ({ event, endpoint })));
    await this.settled();
  }

  /** Resolves when nothing is left to deliver. */
  async settled(): Promise<void> {
    for (let work: Promise<void> | undefined; work !== this.#work; ) {
      work = this.#work;
      await work;
    }
  }

  close(): void {
    this.#stop.abort();
  }

  #post(letters: readonly Letter[]): void {
    for (const letter of letters) this.#work = this.#work.then(() => this.#attempt(letter));
  }

  async #attempt(letter: Letter): Promise<void> {
    const { endpoint, event } = letter;
    if (this.#stop.signal.aborted) return;
    if (this.delayMs > 0) await delay(this.delayMs);
    const payload = JSON.stringify(event, null, 2);
    const signature = Stripe.webhooks.generateTestHeaderString({
      payload,
      secret: endpoint.secret ?? '',
      timestamp: this.#world.outsideNow(),
    });
    const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature, 'user-agent': 'Stripe/1.0' };
    const status = await fetch(endpoint.url, { method: 'POST', body: payload, headers, redirect: 'manual', signal: this.#stop.signal })
      .then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      })
      .catch(() => undefined);
    this.deliveries.push({ eventId: event.id, type: event.type, url: endpoint.url, status });
    if (status === undefined || status < 200 || status > 299) this.#refused.push(letter);
  }
}

function shuffle<T>(list: T[], random: () => number): void {
  for (let last = list.length - 1; last > 0; last--) {
    const [taken] = list.splice(Math.floor(random() * (last + 1)), 1);
    if (taken !== undefined) list.push(taken);
  }
}
