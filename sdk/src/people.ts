import type { MarketingPeopleImportResponse, MarketingPeopleListResponse, MarketingPersonRecord, PlanId } from './generated/models.ts';
import { People as Generated } from './generated/resources.ts';
import { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';

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
  /** To news by mail: confirmed by the person who reads its mail, `none`, or given on a form and not confirmed. */
  readonly consent?: 'given' | 'claimed' | 'none' | undefined;
}

/** `tallygate.people`: everybody the service knows; for users with the role `marketing` or `admin`. */
export class People extends Generated {
  /** One person with their history. */
  get(personId: string, options?: CallOptions): Call<MarketingPersonRecord> {
    const page = this.transport.json<MarketingPeopleListResponse>({ method: 'GET', path: personPath(personId) }, options).withResponse();
    return new Call(
      page.then(({ data, ...rest }) => {
        const [person] = data.data;
        if (!person) throw new TypeError('The service returned no person');
        return { ...rest, data: person };
      }),
    );
  }

  /** Takes people from a CSV file, which is sent piece by piece: in Node, `await openAsBlob(path)` of `node:fs` gives one. */
  importAll(csv: Blob, options?: CallOptions): Call<MarketingPeopleImportResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/marketing/people/import', raw: { type: 'text/csv', content: csv } }, options);
  }
}

const personPath = (personId: string): string => `/v1/marketing/people/${pathStep(personId)}`;
