import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import type { ProjectMembers } from './project-members.ts';
import type { Projects } from './projects.ts';

export const projectRoutes = (projects: Projects, members: ProjectMembers): Handlers<typeof contract.projects> => ({
  list: async ({ principal, query }) => ({ status: 200, body: await projects.list(principal, query) }),
  create: async ({ principal, body, ...call }) => ({ status: 201, body: await projects.create(principal, body, originOf(call)) }),
  get: async ({ principal, params }) => ({ status: 200, body: await projects.get(principal, params.project_id) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: await projects.update(principal, params.project_id, body, originOf(call)),
  }),
  members: async ({ principal, params, query }) => ({ status: 200, body: await members.list(principal, params.project_id, query) }),
  putMember: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: await members.put(principal, params.project_id, params.user_id, body.project_role, originOf(call)),
  }),
  removeMember: async ({ principal, params, ...call }) => {
    await members.remove(principal, params.project_id, params.user_id, originOf(call));
    return { status: 204, body: undefined };
  },
});
