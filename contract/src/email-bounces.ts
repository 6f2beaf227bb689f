import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, refusals, Uuid } from './conventions.ts';
import { RECIPIENT_STATES } from './emails.ts';

const c = initContract();

export const MarketingEmailBounceResponse = z
  .object({
    recipient_id: Uuid.nullable().meta({ description: 'Of a marketing mail; null for an invitation.' }),
    email_id: Uuid.nullable().meta({ description: 'The marketing mail; null for an invitation.' }),
    invite_id: Uuid.nullable().meta({ description: 'The invitation; null for a marketing mail.', examples: [null] }),
    kind: z.enum(['hard', 'soft']).meta({
      description:
        '`hard`: the address is none, and gets no further mail. `soft`: this mail was late or was not taken, and the address may get others.',
    }),
    status: z.string().meta({ description: 'The status code of the mail server (RFC 3463).', examples: ['5.1.1'] }),
    state: z.enum(RECIPIENT_STATES).meta({
      description:
        'The new state of the recipient; for an invitation the state in its batch: `failed`, for every kind, if it did not arrive.',
    }),
    changed: z.boolean().meta({ description: 'False for a report that changed nothing.' }),
  })
  .meta({
    id: 'MarketingEmailBounceResponse',
    description: 'The result of a bounce report.',
    examples: [
      {
        ...{ recipient_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', email_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', invite_id: null },
        ...{ kind: 'hard', status: '5.1.1', state: 'bounced', changed: true },
      },
    ],
  });
export type MarketingEmailBounceResponse = z.infer<typeof MarketingEmailBounceResponse>;

export const emailBounces = c.router({
  take: {
    method: 'POST',
    path: '/v1/marketing/emails/bounces',
    summary: 'Process a bounce report',
    description:
      'The body is the mail as it came in, `Content-Type: message/rfc822`: a report of a delivery that failed or is late (RFC 3464). The recipient is identified by the signed address it was sent to (`MAIL_BOUNCE_ADDRESS`), or by the signed link in the mail that came back. What is no report, or about no mail of this service, is a 422 and changes nothing. It may have a megabyte, 10,000 lines and 64 KiB of headers before its first empty line; mail servers send back less. A repeat changes nothing more.',
    headers: headersA,
    body: z
      .string()
      .min(1)
      .meta({ description: 'The mail.', examples: ['From: MAILER-DAEMON@mail.example\r\nContent-Type: multipart/report; …'] }),
    responses: { 200: MarketingEmailBounceResponse, ...refusals.write },
    metadata: {
      ...{ auth: 'bearer', scope: 'marketing:write', role: 'marketing', tag: 'Marketing e-mails' },
      ...{ body: 'mail', operationId: 'takeMarketingEmailBounce' },
    } as const,
  },
});
