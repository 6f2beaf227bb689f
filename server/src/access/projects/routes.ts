import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import type { Projects } from './projects.ts';

export const projectRoutes = (projects: Projects): Handlers<typeof contract.projects> => ({
  list: async ({ principal, query }) => ({ status: 200, body: await projects.list(principal.accountId, query) }),
  create: async ({ principal, body, ...call }) => ({ status: 201, body: await projects.create(principal, body, originOf(call)) }),
  get: async ({ principal, params }) => ({ status: 200, body: await projects.get(principal.accountId, params.project_id) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: await projects.update(principal, params.project_id, body, originOf(call)),
  }),
});
