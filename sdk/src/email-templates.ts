import type {
  MarketingEmailTemplateCreateRequest,
  MarketingEmailTemplateListResponse,
  MarketingEmailTemplateRecord,
  MarketingEmailTemplateUpdateRequest,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which templates. */
export interface EmailTemplateQuery extends PageQuery {
  /** Those that are archived instead of the others. */
  readonly archived?: boolean | undefined;
}

/** `tallygate.emails.templates`: the words of mails that are sent again and again, by `template_id`. */
export class EmailTemplates {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Stores a template. Rejects with a `ConflictError` when another one has its name. */
  create(request: MarketingEmailTemplateCreateRequest, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.#transport.json({ method: 'POST', path: PATH, body: request, isOnce: true }, options);
  }

  /** Templates, what was changed last first. */
  list(query?: EmailTemplateQuery, options?: CallOptions): PagedCall<MarketingEmailTemplateListResponse, MarketingEmailTemplateRecord> {
    return this.#transport.pages({ path: PATH, query: { ...query } }, ({ template_id }) => template_id, options);
  }

  /** One template, archived or not. */
  get(templateId: string, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.#transport.json({ method: 'GET', path: templatePath(templateId) }, options);
  }

  /** Changes what is given; mails that were made from it stay. Rejects with a `ConflictError` when it is archived. */
  update(templateId: string, request: MarketingEmailTemplateUpdateRequest, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.#transport.json({ method: 'PATCH', path: templatePath(templateId), body: request }, options);
  }

  /** Lets no mail be made from it any more. Twice is as good as once. */
  archive(templateId: string, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.#transport.json({ method: 'POST', path: `${templatePath(templateId)}/archive` }, options);
  }
}

const PATH = '/v1/marketing/email-templates';
const templatePath = (templateId: string): string => `${PATH}/${pathStep(templateId)}`;
