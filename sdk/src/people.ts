import type {
  MarketingPeopleActionRequest,
  MarketingPeopleActionResponse,
  MarketingPeopleImportResponse,
  MarketingPeopleListResponse,
  MarketingPersonExport,
  MarketingPersonRecord,
  PlanId,
} from './generated/models.ts';
import { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which people; all that is given holds together. */
export interface PeopleFilter {
  /** Words that are all found in e-mail address, name or company; `#beta` finds the tag. */
  readonly q?: string | undefined;
  /** A stage, `unsubscribed` or `bounced`. */
  readonly status?: MarketingPersonRecord['status'] | 'unsubscribed' | 'bounced' | undefined;
  readonly source?: MarketingPersonRecord['sources'][number] | undefined;
  readonly event_slug?: string | undefined;
  /** A user's id, or `none`. */
  readonly owner?: string | undefined;
  readonly client_type?: string | undefined;
  readonly plan_tier?: PlanId | 'none' | undefined;
  /** To news by mail: confirmed by the person who reads its mail, `none`, or of those said on a form and not confirmed. */
  readonly consent?: 'given' | 'claimed' | 'none' | undefined;
}

/** `tallygate.people`: everybody the service knows; for users with the role `marketing` or `admin`. */
export class People {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** People, those who became known last first: the page that was asked for, or all from there on with `for await`. */
  list(query?: PeopleFilter & PageQuery, options?: CallOptions): PagedCall<MarketingPeopleListResponse, MarketingPersonRecord> {
    return this.#transport.pages({ path: '/v1/marketing/people', query: { ...query } }, ({ person_id }) => person_id, options);
  }

  /** One person with their history. */
  get(personId: string, options?: CallOptions): Call<MarketingPersonRecord> {
    const page = this.#transport.json<MarketingPeopleListResponse>({ method: 'GET', path: personPath(personId) }, options).withResponse();
    return new Call(
      page.then(({ data, ...rest }) => {
        const [person] = data.items;
        if (!person) throw new TypeError('The service answered about nobody');
        return { ...rest, data: person };
      }),
    );
  }

  /** Tags, assigns, notes, merges, unsubscribes, erases: `people.act(id, { action: 'tag', tag: 'beta' })`. */
  act(personId: string, action: MarketingPeopleActionRequest, options?: CallOptions): Call<MarketingPeopleActionResponse> {
    return this.#transport.json({ method: 'POST', path: `${personPath(personId)}/actions`, body: action }, options);
  }

  /** Everything that is kept of a person, for a request about what is stored on them. */
  exportOne(personId: string, options?: CallOptions): Call<MarketingPersonExport> {
    return this.#transport.json({ method: 'GET', path: `${personPath(personId)}/export` }, options);
  }

  /** People as CSV, as a response whose body is still to come. */
  exportAll(query: PeopleFilter = {}, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/v1/marketing/people/export', query: { ...query } }, options);
  }

  /** Takes people from a CSV file, which is sent piece by piece: in Node, `await openAsBlob(path)` of `node:fs` gives one. */
  importAll(csv: Blob, options?: CallOptions): Call<MarketingPeopleImportResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/marketing/people/import', raw: { type: 'text/csv', content: csv } }, options);
  }
}

const personPath = (personId: string): string => `/v1/marketing/people/${pathStep(personId)}`;
