import type { MarketingEmailBounceResponse } from './generated/models.ts';
import { EmailTemplates, Emails as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.emails`: mails to the people the service knows; for users with the role `marketing` or `admin`. */
export class Emails extends Generated {
  /** The words of mails that are sent again and again. */
  readonly templates: EmailTemplates;

  constructor(transport: Transport) {
    super(transport);
    this.templates = new EmailTemplates(transport);
  }

  /**
   * Takes a report of a mail that came back (RFC 3464), as it was received. Rejects with a `ValidationError` for what is none, or is
   * about no mail of this service.
   */
  bounce(message: Blob | string, options?: CallOptions): Call<MarketingEmailBounceResponse> {
    const raw = { type: 'message/rfc822', content: message };
    return this.transport.json({ method: 'POST', path: '/v1/marketing/emails/bounces', raw }, options);
  }
}
