import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Controls, control, type Fault } from './control.ts';
import { StripeFault } from './fault.ts';
import { Form } from './form.ts';
import { type Answer, IdempotencyKeys } from './idempotency.ts';
import { expand } from './listing.ts';
import { hostedPage } from './pages.ts';
import { advanceTo, catchUp } from './passage-of-time.ts';
import { closeDispute, openDispute } from './refunds.ts';
import { routeOf } from './routes.ts';
import { addWebhookEndpoint } from './webhook-endpoints.ts';
import { Webhooks } from './webhooks.ts';
import { API_VERSION, type DunningEnd, World } from './world.ts';

export interface FakeStripeOptions {
  /** Default 0: any free port. Always on 127.0.0.1. */
  readonly port?: number;
  /** Epoch milliseconds; default the system's. It is what `advance` adds to. */
  readonly clock?: () => number;
  /** An endpoint that gets every event from the start; more can be created through the API. */
  readonly webhook?: { readonly url: string; readonly secret: string };
  /** What becomes of a subscription whose renewal was declined four times. Default `canceled`. */
  readonly dunningEnd?: DunningEnd;
}

/** A request as it arrived at the API. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly apiVersion: string | undefined;
  readonly body: string;
}

export interface FakeStripe {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** What the SDK is constructed with, beside a key (`sk_test_…`, `sk_live_…`). */
  readonly sdkOptions: { readonly host: string; readonly port: number; readonly protocol: 'http'; readonly telemetry: false };
  readonly requests: readonly RecordedRequest[];
  readonly webhooks: Webhooks;
  /** Epoch milliseconds, by the fake's own clock. */
  now(): number;
  /** Lets time pass: periods end, renewals are charged, schedules take effect, declined payments are tried again. */
  advance(time: { readonly toMs: number } | { readonly days: number } | { readonly seconds: number }): void;
  /** Delivers every event to an endpoint from now on. */
  addWebhook(webhook: { readonly url: string; readonly secret: string }): void;
  /** Presses Pay on the hosted page, with a test card (default 4242…). @returns what the page says when it is declined */
  pay(sessionId: string, card?: string): string | undefined;
  /** @returns its id */
  openDispute(paymentIntentId: string, reason?: string): string;
  closeDispute(disputeId: string, outcome: 'won' | 'lost'): void;
  /** What happens to the next requests, one fault each. */
  failNext(...faults: readonly Fault[]): void;
  /** Answers to requests that begin so (`POST /v1/refunds`) are lost after everything was done; undefined: none any more. */
  loseAnswersTo(request: string | undefined): void;
  /** Each request takes this long from now on, so that two with one idempotency key can meet. */
  slowDown(ms: number): void;
  close(): Promise<void>;
}

/** What the requests to one fake share. */
class StripeApi {
  readonly world: World;
  readonly webhooks: Webhooks;
  readonly controls: Controls;
  readonly requests: RecordedRequest[] = [];
  slowMs = 0;
  losing: string | undefined;
  readonly #keys: IdempotencyKeys;

  constructor(world: World) {
    this.world = world;
    this.webhooks = new Webhooks(world);
    this.controls = { world, webhooks: this.webhooks, faults: [] };
    this.#keys = new IdempotencyKeys(() => world.now());
  }

  tellWebhooks(): void {
    this.webhooks.tell(this.world.takeEmitted());
  }

  /** All or nothing, unless what went wrong is itself on record. */
  atomically<T>(work: () => T, isRead = false): T {
    catchUp(this.world);
    // To read changes nothing, and a checkpoint is a copy of everything.
    const undo = isRead ? () => {} : this.world.checkpoint();
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof StripeFault && thrown.keepsEffects)) undo();
      throw thrown;
    } finally {
      this.tellWebhooks();
    }
  }

  async handle(incoming: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { pathname, search } = new URL(incoming.url ?? '/', this.world.baseUrl);
    if (pathname.startsWith('/_control/')) return send(response, await this.#control(pathname, body));
    const showPage = () => hostedPage(this.world, incoming.method ?? 'GET', pathname, body);
    const page = pathname.startsWith('/v1/') ? undefined : this.atomically(showPage);
    if (page) {
      const headers = { 'content-type': page.contentType, ...(page.location !== undefined && { location: page.location }) };
      response.writeHead(page.status, headers).end(page.body);
      return;
    }
    const fault = this.controls.faults.shift();
    if (fault === 'reset') return void incoming.socket.destroy();
    if (typeof fault === 'object') {
      const said = new StripeFault(fault.status, 'api_error', 'An unknown error occurred.').toBody();
      return send(response, { status: fault.status, body: JSON.stringify(said) });
    }
    const answer = await this.#api(incoming, pathname, search, body);
    const isLost = this.losing !== undefined && `${incoming.method} ${pathname}`.startsWith(this.losing);
    if (fault === 'lost_answer' || isLost) return void incoming.socket.destroy();
    send(response, answer);
  }

  async #control(pathname: string, body: string): Promise<Answer> {
    const answer = await control(this.controls, pathname, Form.parse(body)).then(
      (value) => ({ status: 200, body: JSON.stringify(value) }),
      refusalOf,
    );
    this.tellWebhooks();
    return answer;
  }

  async #api(incoming: IncomingMessage, path: string, search: string, body: string): Promise<Answer & { replayed?: true }> {
    const { method = 'GET', headers } = incoming;
    const idempotencyKey = single(headers['idempotency-key']);
    this.requests.push({ method, path, idempotencyKey, apiVersion: single(headers['stripe-version']), body });
    if (!/^Bearer (?:(?:sk|rk)_test_\w+|(?:sk|rk)_live_\w{4,})$/.test(headers.authorization ?? '')) {
      const said = 'Invalid API Key provided: use any key that begins with sk_test_ or sk_live_.';
      return refusalOf(new StripeFault(401, 'invalid_request_error', said));
    }
    this.world.livemode = /^Bearer [rs]k_live_/.test(headers.authorization ?? '');
    const encoded = method === 'GET' ? search.slice(1) : body;
    if (idempotencyKey === undefined || method !== 'POST') return this.#run(method, path, encoded);
    try {
      const kept = this.#keys.begin(idempotencyKey, `${method} ${path}\n${body}`);
      if (typeof kept !== 'function') return { ...kept, replayed: true };
      const answer = await this.#run(method, path, encoded);
      kept(answer);
      return answer;
    } catch (thrown) {
      return refusalOf(thrown);
    }
  }

  async #run(method: string, path: string, encoded: string): Promise<Answer> {
    if (this.slowMs > 0) await delay(this.slowMs);
    try {
      const form = Form.parse(encoded);
      const route = routeOf(method, path);
      if (!route) throw new StripeFault(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${path}).`);
      const answer = this.atomically(() => {
        const paths = form.texts('expand');
        const found = expand(this.world, route(this.world, form), paths);
        form.expectAllRead();
        return found;
      }, method === 'GET');
      return { status: 200, body: JSON.stringify(answer) };
    } catch (thrown) {
      return refusalOf(thrown);
    }
  }
}

/** Starts the fake; it listens when this resolves. */
export async function startFakeStripe(options: FakeStripeOptions = {}): Promise<FakeStripe> {
  const world = new World(options.clock ?? Date.now);
  world.dunningEnd = options.dunningEnd ?? 'canceled';
  const api = new StripeApi(world);
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      api.handle(incoming, response, Buffer.concat(parts).toString()).catch((bug: unknown) => {
        console.error(bug);
        response.destroy();
      });
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The fake has no TCP address.');
  world.baseUrl = `http://127.0.0.1:${address.port}`;
  if (options.webhook) addWebhookEndpoint(world, options.webhook);
  const close = async () => {
    api.webhooks.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };
  return { ...handlesOf(api), url: world.baseUrl, port: address.port, sdkOptions: sdkOptionsFor(address.port), close };
}

const sdkOptionsFor = (port: number): FakeStripe['sdkOptions'] => ({ host: '127.0.0.1', port, protocol: 'http', telemetry: false });

/** What a test does to the fake, and reads of it. */
function handlesOf(api: StripeApi): Omit<FakeStripe, 'url' | 'port' | 'sdkOptions' | 'close'> {
  const { world } = api;
  return {
    requests: api.requests,
    webhooks: api.webhooks,
    now: () => world.now() * 1000,
    advance: (time) => {
      const seconds = 'days' in time ? time.days * 86_400 : 'seconds' in time ? time.seconds : 0;
      advanceTo(world, 'toMs' in time ? Math.floor(time.toMs / 1000) : world.now() + seconds);
      api.tellWebhooks();
    },
    addWebhook: (webhook) => void addWebhookEndpoint(world, webhook),
    pay: (sessionId, card = '4242424242424242') =>
      api.atomically(() => hostedPage(world, 'POST', `/pay/${sessionId}`, `card=${card}`))?.body.match(/role="alert">([^<]*)/)?.[1],
    openDispute: (payment, reason = 'fraudulent') =>
      api.atomically(() => openDispute(world, Form.parse(new URLSearchParams({ payment_intent: payment, reason }).toString()))).id,
    closeDispute: (id, outcome) => void api.atomically(() => closeDispute(world, id, outcome)),
    failNext: (...faults) => void api.controls.faults.push(...faults),
    loseAnswersTo: (request) => {
      api.losing = request;
    },
    slowDown: (ms) => {
      api.slowMs = ms;
    },
  };
}

/** @throws what is no refusal of Stripe's */
function refusalOf(thrown: unknown): Answer {
  if (!(thrown instanceof StripeFault)) throw thrown;
  return { status: thrown.status, body: JSON.stringify(thrown.toBody()) };
}

function send(response: ServerResponse, { status, body, replayed }: Answer & { replayed?: true }): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'request-id': `req_${randomBytes(7).toString('hex')}`,
      'stripe-version': API_VERSION,
      ...(replayed && { 'idempotent-replayed': 'true' }),
    })
    .end(body);
}

const single = (header: string | string[] | undefined): string | undefined => (Array.isArray(header) ? header[0] : header);
