import { VibethonRegistrationRequest } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import {
  type Events,
  type EventWithPlaces,
  type ListedRegistration,
  placesLeft,
  takesRegistrations,
  toJsonLd,
} from '../../community/events/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { problemOf } from '../../kernel/problem-of.ts';
import { readBody } from './body.ts';
import { EVENT_PAGE_HEADERS, eventPage, onwardPage, payPage, type Reply, type ShownEvent, sentencePage, timeThere } from './event-page.ts';
import type { Exchange } from './exchange.ts';
import type { PeerAddress } from './peer-address.ts';
import { shownIdOf } from './request-ids.ts';
import { type ServedRoute, unknownPath } from './router.ts';
import { queryParamsOf } from './target.ts';

const SLUG = /^[a-z0-9-]{1,200}$/;
const BODY = { maxBytes: 16_384, timeoutMs: 10_000 };
const TOO_LATE =
  'No place is held by this link any more: it was paid, or its time is over. Your last mail says how your registration stands.';

interface EventPagesDeps {
  readonly events: Pick<Events, 'siteEvents' | 'registrations' | 'payByMail'>;
  readonly clock: Clock;
  readonly peerAddress: PeerAddress;
  /** The page at which an event is read. */
  readonly pageOf: (slug: string) => string;
  readonly log: Log;
}

interface Answer {
  readonly status: number;
  readonly page: string;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * A page for each published event, where links in mails, calendars and search engines lead when there is no web front end; and one to pay for
 * a held place, by the link of its mail. Both work without a script. No cookie or login is involved, so no other site can send these forms
 * with more than anybody has. A page to pay on asks first: mail scanners follow links.
 */
export function eventPageRoutes(deps: EventPagesDeps): ServedRoute[] {
  const pages = new EventPages(deps);
  return (['GET', 'POST'] as const).flatMap((method): ServedRoute[] => [
    { method, path: '/events/:slug', kind: 'site', answer: (exchange) => pages.serve(exchange, pages.show) },
    { method, path: '/events/:slug/pay', kind: 'site', answer: (exchange) => pages.serve(exchange, pages.payment) },
  ]);
}

type Work = (exchange: Exchange, slug: string) => Promise<Answer>;

class EventPages {
  readonly #deps: EventPagesDeps;

  constructor(deps: EventPagesDeps) {
    this.#deps = deps;
  }

  async serve(exchange: Exchange, work: Work): Promise<void> {
    const { req, res, params } = exchange;
    const slug = params['slug'] ?? '';
    if (!SLUG.test(slug)) throw unknownPath();
    const { status, page, retryAfterSeconds } = await work(exchange, slug).catch((thrown: unknown): Answer => {
      const problem = problemOf(thrown);
      if (!(thrown instanceof Problem)) this.#deps.log.error({ err: thrown }, 'the page of an event could not be made');
      return { ...refusalOf(problem), page: sentencePage('That did not work', problem.message) };
    });
    // What a page to pay on was sent is known from the method.
    req.resume();
    res.writeHead(status, {
      ...EVENT_PAGE_HEADERS,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    });
    res.end(req.method === 'HEAD' ? undefined : page);
  }

  readonly show: Work = async (exchange, slug) =>
    exchange.req.method === 'POST' ? this.#register(exchange, slug) : { status: 200, page: this.#pageWith(await this.#read(slug)) };

  readonly payment: Work = async (exchange, slug) => {
    const { events, pageOf } = this.#deps;
    const { req } = exchange;
    const token = queryParamsOf(req.url ?? '').get('token') ?? '';
    const place = await events.payByMail.held(slug, token);
    if (!place?.registration.pay_by) return { status: 404, page: sentencePage('Nothing is to be paid', TOO_LATE) };
    const event = { ...this.#shown(place.event), price_nano: place.registration.price_nano };
    if (req.method !== 'POST') return { status: 200, page: payPage(event, place.registration.email, place.registration.pay_by) };
    const { url } = await events.payByMail.pay(slug, token, { origin: this.#originFrom(exchange), cancelUrl: pageOf(slug) });
    return {
      status: 200,
      page: url === null ? sentencePage(event.title, 'It is paid: a mail will confirm your place.') : onwardPage(event, url),
    };
  };

  async #register(exchange: Exchange, slug: string): Promise<Answer> {
    const form = new URLSearchParams((await readBody(exchange.req, BODY)).toString());
    const [email, name, wantsNews] = [form.get('email')?.trim() ?? '', form.get('name')?.trim() ?? '', form.has('news')];
    const event = await this.#read(slug);
    const request = VibethonRegistrationRequest.safeParse({ email, ...(name !== '' && { name }), marketing_consent: wantsNews });
    if (!request.success) {
      const field = request.error.issues[0]?.path[0] === 'name' ? 'name' : 'e-mail address';
      const sentence = `That ${field} cannot be used: look at it again.`;
      return { status: 422, page: this.#pageWith(event, { sentence, email, name, wantsNews, isDone: false }) };
    }
    try {
      const made = await this.#deps.events.registrations.register(event, request.data, this.#originFrom(exchange));
      const reply = { sentence: standing(made, event), email, name, wantsNews, isDone: true };
      return { status: 200, page: this.#pageWith(await this.#read(slug), reply) };
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown;
      return { ...refusalOf(thrown), page: this.#pageWith(event, { sentence: thrown.message, email, name, wantsNews, isDone: false }) };
    }
  }

  #read(slug: string): Promise<EventWithPlaces> {
    const { registrations, siteEvents } = this.#deps.events;
    return slug === 'vibethon' ? registrations.vibethon() : siteEvents.published(slug);
  }

  #pageWith(event: EventWithPlaces, reply?: Reply): string {
    return eventPage(this.#shown(event), toJsonLd(event, this.#deps.pageOf(event.slug)), reply);
  }

  #shown(event: EventWithPlaces): ShownEvent {
    return { ...event, placesLeft: placesLeft(event, event), isOpen: takesRegistrations(event, this.#deps.clock.now()) };
  }

  #originFrom(exchange: Exchange) {
    const peer = { address: this.#deps.peerAddress(exchange.req), userAgent: exchange.req.headers['user-agent'] ?? null };
    return originOf({ peer, requestId: shownIdOf(exchange) });
  }
}

const refusalOf = ({ status, extras }: Problem) => ({ status, retryAfterSeconds: extras.retryAfterSeconds });

/** The public answer for an address, as in the API. */
function standing({ status, pay_by, waitlist_position }: ListedRegistration, { time_zone }: EventWithPlaces): string {
  switch (status) {
    case 'confirmed':
      return 'You have a place. A mail with all about it is on its way.';
    case 'awaiting_payment':
      return `A place is held for you${pay_by === null ? '' : ` until ${timeThere(pay_by, time_zone)}`}. The mail that is on its way has the link to pay for it.`;
    case 'waitlisted':
      return `All places are taken: you are number ${waitlist_position} on the waitlist. A mail tells you when a place falls free.`;
    case 'canceled':
      return 'This registration is canceled.';
    default:
      return status satisfies never;
  }
}
