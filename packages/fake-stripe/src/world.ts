import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { noSuch } from './fault.ts';
import type {
  FakeCharge,
  FakeCustomer,
  FakeDispute,
  FakeEvent,
  FakeInvoice,
  FakeInvoiceItem,
  FakeInvoicePayment,
  FakePaymentIntent,
  FakePaymentMethod,
  FakePortalSession,
  FakePrice,
  FakeProduct,
  FakeRefund,
  FakeSchedule,
  FakeSession,
  FakeSubscription,
  FakeWebhookEndpoint,
} from './records.ts';

/** The API version of the SDK that the records are typed with. */
export const API_VERSION = '2026-10-28.endive';

export interface Records {
  customer: FakeCustomer;
  payment_method: FakePaymentMethod;
  product: FakeProduct;
  price: FakePrice;
  'checkout.session': FakeSession;
  payment_intent: FakePaymentIntent;
  charge: FakeCharge;
  refund: FakeRefund;
  dispute: FakeDispute;
  subscription: FakeSubscription;
  subscription_schedule: FakeSchedule;
  invoiceitem: FakeInvoiceItem;
  invoice: FakeInvoice;
  invoice_payment: FakeInvoicePayment;
  'billing_portal.session': FakePortalSession;
  event: FakeEvent;
  webhook_endpoint: FakeWebhookEndpoint;
}

/** As Stripe names it in `object`. */
export type Kind = keyof Records;
export type RecordOf<K extends Kind> = Records[K];
type Tables = { [K in Kind]: Map<string, Records[K]> };

/** What happens when the retries of an unpaid invoice are used up. */
export type DunningEnd = 'canceled' | 'unpaid';

const emptyTables = (): Tables => ({
  customer: new Map(),
  payment_method: new Map(),
  product: new Map(),
  price: new Map(),
  'checkout.session': new Map(),
  payment_intent: new Map(),
  charge: new Map(),
  refund: new Map(),
  dispute: new Map(),
  subscription: new Map(),
  subscription_schedule: new Map(),
  invoiceitem: new Map(),
  invoice: new Map(),
  invoice_payment: new Map(),
  'billing_portal.session': new Map(),
  event: new Map(),
  webhook_endpoint: new Map(),
});

/** Everything that Stripe would know. One request at a time works on it, wholly or not at all. */
export class World {
  /** By the key of the last request. */
  livemode = false;
  tables = emptyTables();
  /** What the next request's session payment needs beyond Stripe's own fields, by session. */
  sessionOrders = new Map<string, SessionOrder>();
  dunningEnd: DunningEnd = 'canceled';
  /** Where hosted pages are. */
  baseUrl = '';
  #clock: () => number;
  #shiftSeconds = 0;
  #emitted: FakeEvent[] = [];

  /** @param clock epoch milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Epoch seconds. */
  now(): number {
    return Math.floor(this.#clock() / 1000) + this.#shiftSeconds;
  }

  /** What clocks outside say, epoch seconds: the moment at which webhooks are signed. */
  outsideNow(): number {
    return Math.floor(this.#clock() / 1000);
  }

  /** Moves the clock forward only. */
  moveTo(epochSeconds: number): void {
    if (epochSeconds > this.now()) this.#shiftSeconds += epochSeconds - this.now();
  }

  id(prefix: string): string {
    return `${prefix}_${randomBytes(12).toString('hex')}`;
  }

  decimal(text: string): Stripe.Decimal {
    return Stripe.Decimal.from(text);
  }

  find<K extends Kind>(kind: K, id: string, param?: string): RecordOf<K> {
    const found = this.peek(kind, id);
    if (found === undefined) throw noSuch(kind, id, param);
    return found;
  }

  peek<K extends Kind>(kind: K, id: string | null | undefined): RecordOf<K> | undefined {
    return id == null ? undefined : this.tables[kind].get(id);
  }

  all<K extends Kind>(kind: K): RecordOf<K>[] {
    return [...this.tables[kind].values()];
  }

  put<K extends Kind>(kind: K, record: RecordOf<K>): RecordOf<K> {
    this.tables[kind].set(record.id, record);
    return record;
  }

  emit(type: string, object: object, previous?: Record<string, unknown>): void {
    const event: FakeEvent = {
      id: this.id('evt'),
      object: 'event',
      api_version: API_VERSION,
      created: this.now(),
      data: { object: copy(object), ...(previous && { previous_attributes: previous }) },
      livemode: this.livemode,
      pending_webhooks: this.tables.webhook_endpoint.size,
      request: null,
      type,
    };
    this.tables.event.set(event.id, event);
    this.#emitted.push(event);
  }

  /** Events since the last call. */
  takeEmitted(): FakeEvent[] {
    return this.#emitted.splice(0);
  }

  /** Undoes all changes made until it is called. */
  checkpoint(): () => void {
    // An event never changes once it is emitted, and there are more of them than of all else together.
    const { event, ...mutable } = this.tables;
    const before: Tables = { ...copy(mutable), event: new Map(event) };
    const orders = new Map(this.sessionOrders);
    const emitted = this.#emitted.length;
    return () => {
      this.tables = before;
      this.sessionOrders = orders;
      this.#emitted.length = emitted;
    };
  }
}

/** What a checkout session will make once it is paid. */
export interface SessionOrder {
  readonly lines: readonly {
    readonly priceId: string | undefined;
    readonly name: string;
    readonly amount: number;
    readonly quantity: number;
  }[];
  readonly metadata: Record<string, string>;
  readonly description: string | null;
  readonly saveCard: boolean;
}

/** Deep for plain objects, arrays and maps; other values, such as decimals, are immutable and shared. */
export function copy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, copy(one)])) as T;
  if (Array.isArray(value)) return value.map(copy) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  // All tables are copied for each request: entries() and fromEntries() would take most of the time.
  const made: Record<string, unknown> = {};
  for (const key in value) made[key] = copy(value[key]);
  return made as T;
}
