import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, isPlainText, NOT_PLAIN, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { mailText } from './mail-text.ts';

const c = initContract();

const EXAMPLE = {
  template_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  name: 'beta-open',
  subject: '{{first_name|Hello}}, the beta is open',
  text: 'Hi {{first_name|there}},\n\ncome in: {{link}}\n',
  html: null,
  variables: { link: 'https://example.com/beta' },
  missing_variables: [],
  version: 1,
  archived_at: null,
  created_at: '2026-11-21T08:00:00.000Z',
  updated_at: '2026-11-21T08:00:00.000Z',
};

const Name = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'Unique among the templates that are not archived.', examples: ['beta-open'] });
const Variables = mailText.variables.meta({
  description: 'Default values of its variables; a mail can set others.',
  examples: [{ link: 'https://example.com/beta' }],
});

export const MarketingEmailTemplateCreateRequest = z
  .strictObject({
    name: Name,
    subject: mailText.subject,
    text: mailText.text,
    html: mailText.html.optional(),
    variables: Variables.optional(),
  })
  .meta({
    id: 'MarketingEmailTemplateCreateRequest',
    description: 'A new template.',
    examples: [{ name: EXAMPLE.name, subject: EXAMPLE.subject, text: EXAMPLE.text, variables: EXAMPLE.variables }],
  });
export type MarketingEmailTemplateCreateRequest = z.infer<typeof MarketingEmailTemplateCreateRequest>;

export const MarketingEmailTemplateUpdateRequest = z
  .strictObject({
    name: Name.optional(),
    subject: mailText.subject.optional(),
    text: mailText.text.optional(),
    html: mailText.html.nullable().optional(),
    variables: Variables.optional(),
  })
  .meta({
    id: 'MarketingEmailTemplateUpdateRequest',
    description: 'What to change. A field that is left out stays; `variables` are replaced as a whole. Existing mails do not change.',
    examples: [{ subject: 'The beta is open' }],
  });
export type MarketingEmailTemplateUpdateRequest = z.infer<typeof MarketingEmailTemplateUpdateRequest>;

export const MarketingEmailTemplateRecord = z
  .object({
    template_id: Uuid,
    name: Name,
    subject: mailText.subject,
    text: mailText.text,
    html: mailText.html.nullable().meta({ description: 'Null: generated from the text.' }),
    variables: Variables,
    missing_variables: z.array(z.string()).meta({
      description: 'Variables without a value: every mail must give them in `variables`.',
      examples: [['link']],
    }),
    version: z.int().meta({ description: 'Grows with every change.', examples: [1] }),
    archived_at: Timestamp.nullable().meta({ description: 'From then on, new mails cannot use it.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'MarketingEmailTemplateRecord', description: 'The text of recurring mails.', examples: [EXAMPLE] });
export type MarketingEmailTemplateRecord = z.infer<typeof MarketingEmailTemplateRecord>;

export const MarketingEmailTemplateListResponse = page(MarketingEmailTemplateRecord).meta({
  id: 'MarketingEmailTemplateListResponse',
  description: 'Templates, last changed first.',
  examples: [{ data: [EXAMPLE], has_more: false, next_cursor: null }],
});
export type MarketingEmailTemplateListResponse = z.infer<typeof MarketingEmailTemplateListResponse>;

const TemplatePath = z.object({ template_id: Uuid.meta({ description: 'The template’s id.' }) });
const reading = { auth: 'bearer', scope: 'marketing:read', role: 'marketing', tag: 'Marketing e-mails' } as const;
const writing = { ...reading, scope: 'marketing:write' } as const;

export const emailTemplates = c.router({
  create: {
    method: 'POST',
    path: '/v1/marketing/email-templates',
    summary: 'Store a template',
    description: 'It is sent by `template_id`. To preview it, create a mail with `mode: "preview"`. A name that is in use is a 409.',
    headers: { ...headersA, ...idempotencyHeader },
    body: MarketingEmailTemplateCreateRequest,
    responses: { 201: MarketingEmailTemplateRecord, 409: problem, ...refusals.write },
    metadata: { ...writing, operationId: 'createMarketingEmailTemplate', sdk: 'emails.templates.create' } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/marketing/email-templates',
    summary: 'List templates',
    description: 'Last changed first.',
    headers: headersA,
    query: z.strictObject({
      archived: z.enum(['true', 'false']).default('false').meta({ description: 'Those that are archived instead of the others.' }),
      ...pageQuery,
    }),
    responses: { 200: MarketingEmailTemplateListResponse, ...refusals.read },
    metadata: { ...reading, operationId: 'listMarketingEmailTemplates', sdk: 'emails.templates.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/marketing/email-templates/:template_id',
    summary: 'Show a template',
    description: 'Archived ones too.',
    headers: headersA,
    pathParams: TemplatePath,
    responses: { 200: MarketingEmailTemplateRecord, 404: problem, ...refusals.read },
    metadata: { ...reading, operationId: 'getMarketingEmailTemplate', sdk: 'emails.templates.get' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/marketing/email-templates/:template_id',
    summary: 'Change a template',
    description: 'Existing mails do not change. An archived template is a 409.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: TemplatePath,
    body: MarketingEmailTemplateUpdateRequest,
    responses: { 200: MarketingEmailTemplateRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writing, operationId: 'updateMarketingEmailTemplate', sdk: 'emails.templates.update' } as const,
  },
  archive: {
    method: 'POST',
    path: '/v1/marketing/email-templates/:template_id/archive',
    summary: 'Archive a template',
    description: 'No new mail can use it, and its name can be used again. Queued mails are still sent. Idempotent.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: TemplatePath,
    body: c.noBody(),
    responses: { 200: MarketingEmailTemplateRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writing, operationId: 'archiveMarketingEmailTemplate', sdk: 'emails.templates.archive' } as const,
  },
});
