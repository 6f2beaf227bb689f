import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import type { EmailTemplates } from './templates.ts';

export const emailTemplateRoutes = (templates: EmailTemplates): Handlers<typeof contract.emailTemplates> => ({
  create: async ({ principal, body, ...call }) => ({
    status: 201,
    body: await templates.create({ principal, origin: originOf(call) }, body),
  }),
  list: async ({ query: { archived, ...query } }) => ({
    status: 200,
    body: await templates.list({ isArchived: archived === 'true', ...query }),
  }),
  get: async ({ params }) => ({ status: 200, body: await templates.get(params.template_id) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: await templates.update({ principal, origin: originOf(call) }, params.template_id, body),
  }),
  archive: async ({ principal, params, ...call }) => ({
    status: 200,
    body: await templates.archive({ principal, origin: originOf(call) }, params.template_id),
  }),
});
