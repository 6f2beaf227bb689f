import type {
  RegistrationStatus,
  SiteEventCreateRequest,
  SiteEventJsonLd,
  SiteEventResponse,
  SiteEventUpdateRequest,
  VibethonCheckoutRequest,
  VibethonCheckoutResponse,
  VibethonEventResponse,
  VibethonRegistrationAdminUpdateRequest,
  VibethonRegistrationRequest,
  VibethonRegistrationResponse,
  VibethonRegistrationStatusResponse,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** How to pay for a place. */
export interface EventCheckout extends VibethonCheckoutRequest {
  /** The address that is registered, where it is not the caller’s own. */
  readonly email?: string | undefined;
}

/** Which of the registrations: all where nothing is said. */
export interface RegistrationQuery {
  readonly status?: RegistrationStatus | undefined;
  /** At most 200. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/**
 * `tallygate.events`: events of the site. Reading and registering needs no credential, paying a login or a key with `billing:write`, and the rest
 * the role `admin`.
 */
export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What is published, the next event first. */
  list(options?: CallOptions): Call<SiteEventResponse[]> {
    return this.#transport.json({ method: 'GET', path: '/v1/events' }, options);
  }

  /** A published event. */
  get(slug: string, options?: CallOptions): Call<SiteEventResponse> {
    return this.#transport.json({ method: 'GET', path: eventPath(slug) }, options);
  }

  /** The Vibethon, in whatever state it is. */
  vibethon(options?: CallOptions): Call<VibethonEventResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/events/vibethon' }, options);
  }

  /** A published event as iCalendar: `await (await events.calendar(slug)).text()`. */
  calendar(slug: string, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: `${eventPath(slug)}.ics` }, options);
  }

  /** A published event in the vocabulary of schema.org. */
  jsonLd(slug: string, options?: CallOptions): Call<SiteEventJsonLd> {
    return this.#transport.json({ method: 'GET', path: `${eventPath(slug)}.jsonld` }, options);
  }

  /** Takes a place, or the next one on the waitlist. Registering an address twice changes nothing. The Vibethon’s slug is `vibethon`. */
  register(slug: string, request: VibethonRegistrationRequest, options?: CallOptions): Call<VibethonRegistrationResponse> {
    return this.#transport.json({ method: 'POST', path: `${eventPath(slug)}/register`, body: request }, options);
  }

  /** How the registration of an address stands. */
  registrationStatus(slug: string, email: string, options?: CallOptions): Call<VibethonRegistrationStatusResponse> {
    return this.#transport.json({ method: 'GET', path: `${eventPath(slug)}/registration-status`, query: { email } }, options);
  }

  /** Ends a registration, by the token of the link in a mail about it. Rejects with a `ConflictError` where it was paid for. */
  cancelRegistration(token: string, options?: CallOptions): Call<VibethonRegistrationResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/events/cancel-registration', body: { token } }, options);
  }

  /** Pays for a place that is held: `open` is paid on the hosted page, and `plans.waitForCheckout` waits for it. */
  checkout(slug: string, { email, ...request }: EventCheckout = {}, options?: CallOptions): Call<VibethonCheckoutResponse> {
    const headers = email === undefined ? {} : { 'x-event-email': email };
    return this.#transport.json({ method: 'POST', path: `${eventPath(slug)}/checkout`, body: request, headers, isOnce: true }, options);
  }

  /** Every event, drafts and archived ones included. */
  listAll(options?: CallOptions): Call<SiteEventResponse[]> {
    return this.#transport.json({ method: 'GET', path: '/v1/events/admin' }, options);
  }

  /** Makes a draft, which nobody sees. */
  create(request: SiteEventCreateRequest, options?: CallOptions): Call<SiteEventResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/events/admin', body: request, isOnce: true }, options);
  }

  /** Changes what is given. More places go to the waitlist at once. */
  update(eventId: string, request: SiteEventUpdateRequest, options?: CallOptions): Call<SiteEventResponse> {
    return this.#transport.json({ method: 'PATCH', path: `/v1/events/admin/${pathStep(eventId)}`, body: request }, options);
  }

  /** A draft becomes public. */
  publish(eventId: string, options?: CallOptions): Call<SiteEventResponse> {
    return this.#transport.json({ method: 'POST', path: `/v1/events/admin/${pathStep(eventId)}/publish` }, options);
  }

  /** Puts an event away permanently. */
  archive(eventId: string, options?: CallOptions): Call<SiteEventResponse> {
    return this.#transport.json({ method: 'POST', path: `/v1/events/admin/${pathStep(eventId)}/archive` }, options);
  }

  /** Every registration for every event, the newest first. Of one event: `marketingEvents.registrations`. */
  registrations(query: RegistrationQuery = {}, options?: CallOptions): Call<VibethonRegistrationResponse[]> {
    return this.#transport.json({ method: 'GET', path: '/v1/events/admin/registrations', query: { ...query } }, options);
  }

  /** Changes a registration. A place that falls free goes to the person who has waited longest. */
  updateRegistration(
    registrationId: string,
    request: VibethonRegistrationAdminUpdateRequest,
    options?: CallOptions,
  ): Call<VibethonRegistrationResponse> {
    return this.#transport.json({ method: 'PATCH', path: registrationPath(registrationId), body: request }, options);
  }

  /** Returns what was paid for a place and cancels the registration. */
  refundRegistration(registrationId: string, reason: string, options?: CallOptions): Call<VibethonRegistrationResponse> {
    const path = `${registrationPath(registrationId)}/refund`;
    return this.#transport.json({ method: 'POST', path, body: { reason }, isOnce: true }, options);
  }
}

const eventPath = (slug: string): string => `/v1/events/${pathStep(slug)}`;
const registrationPath = (registrationId: string): string => `/v1/events/admin/registrations/${pathStep(registrationId)}`;
