import type {
  MarketingEventListResponse,
  MarketingEventRecord,
  MarketingEventRegistrationListResponse,
  MarketingEventRegistrationRecord,
  MarketingEventRegistrationUpdateRequest,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.marketingEvents`: events as the marketing workspace works with them; needs the role `marketing`. */
export class MarketingEvents {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Events in every state with the figures of their registrations, the next one first. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<MarketingEventListResponse, MarketingEventRecord> {
    return this.#transport.pages({ path: '/v1/marketing/events', query: { ...query } }, ({ event_id }) => event_id, options);
  }

  /** An event in whatever state. */
  get(slug: string, options?: CallOptions): Call<MarketingEventRecord> {
    return this.#transport.json({ method: 'GET', path: eventPath(slug) }, options);
  }

  /** Who registered for an event, the newest first. */
  registrations(
    slug: string,
    query?: PageQuery,
    options?: CallOptions,
  ): PagedCall<MarketingEventRegistrationListResponse, MarketingEventRegistrationRecord> {
    const path = `${eventPath(slug)}/registrations`;
    return this.#transport.pages({ path, query: { ...query } }, ({ registration_id }) => registration_id, options);
  }

  /** Changes a registration. A place that falls free goes to the person who has waited longest. */
  updateRegistration(
    registrationId: string,
    request: MarketingEventRegistrationUpdateRequest,
    options?: CallOptions,
  ): Call<MarketingEventRegistrationRecord> {
    const path = `/v1/marketing/event-registrations/${pathStep(registrationId)}`;
    return this.#transport.json({ method: 'PATCH', path, body: request }, options);
  }

  /** A draft becomes public. */
  publish(slug: string, options?: CallOptions): Call<MarketingEventRecord> {
    return this.#transport.json({ method: 'POST', path: `${eventPath(slug)}/publish` }, options);
  }

  /** A published event becomes a draft again; its registrations stay. */
  unpublish(slug: string, options?: CallOptions): Call<MarketingEventRecord> {
    return this.#transport.json({ method: 'POST', path: `${eventPath(slug)}/unpublish` }, options);
  }
}

const eventPath = (slug: string): string => `/v1/marketing/events/${pathStep(slug)}`;
