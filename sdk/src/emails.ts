import { EmailTemplates } from './email-templates.ts';
import type {
  MarketingEmailBounceResponse,
  MarketingEmailListResponse,
  MarketingEmailRecipient,
  MarketingEmailRecipientListResponse,
  MarketingEmailRecord,
  MarketingEmailSendRequest,
  MarketingEmailSendResponse,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which recipients of a mail. */
export interface EmailRecipientQuery extends PageQuery {
  /** Only those in this state. */
  readonly state?: MarketingEmailRecipient['state'] | undefined;
}

/** `tallygate.emails`: mails to the people the service knows; for users with the role `marketing` or `admin`. */
export class Emails {
  /** The words of mails that are sent again and again. */
  readonly templates: EmailTemplates;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.templates = new EmailTemplates(transport);
  }

  /** Sends a mail in the background, shows it (`mode: 'preview'`), or sends it to the caller alone (`mode: 'test'`). */
  send(request: MarketingEmailSendRequest, options?: CallOptions): Call<MarketingEmailSendResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/marketing/emails/send', body: request, isOnce: true }, options);
  }

  /** Mails, newest first: the page that was asked for, or all from there on with `for await`. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<MarketingEmailListResponse, MarketingEmailRecord> {
    return this.#transport.pages({ path: '/v1/marketing/emails', query: { ...query } }, ({ email_id }) => email_id, options);
  }

  /** How far a mail is. */
  get(emailId: string, options?: CallOptions): Call<MarketingEmailRecord> {
    return this.#transport.json({ method: 'GET', path: emailPath(emailId) }, options);
  }

  /** Who got a mail, and what came of every address. */
  recipients(
    emailId: string,
    query?: EmailRecipientQuery,
    options?: CallOptions,
  ): PagedCall<MarketingEmailRecipientListResponse, MarketingEmailRecipient> {
    const path = `${emailPath(emailId)}/recipients`;
    return this.#transport.pages({ path, query: { ...query } }, ({ recipient_id }) => recipient_id, options);
  }

  /** Stops a mail: a recipient who still waits for it gets nothing. */
  cancel(emailId: string, options?: CallOptions): Call<MarketingEmailRecord> {
    return this.#transport.json({ method: 'POST', path: `${emailPath(emailId)}/cancel` }, options);
  }

  /**
   * Takes a report of a mail that came back (RFC 3464), as it was received. Rejects with a `ValidationError` for what is none, or is
   * about no mail of this service.
   */
  bounce(message: Blob | string, options?: CallOptions): Call<MarketingEmailBounceResponse> {
    const raw = { type: 'message/rfc822', content: message };
    return this.#transport.json({ method: 'POST', path: '/v1/marketing/emails/bounces', raw }, options);
  }
}

const emailPath = (emailId: string): string => `/v1/marketing/emails/${pathStep(emailId)}`;
