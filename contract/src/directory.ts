import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, page, pageQuery, problem, refusals, Uuid } from './conventions.ts';
import { ProjectRole } from './projects.ts';
import { ACCOUNT_ROLES_OF_GROUPS } from './scopes.ts';

const c = initContract();

const RoleOfGroup = z
  .enum(ACCOUNT_ROLES_OF_GROUPS)
  .nullable()
  .meta({
    description: 'What members of the group are in the account; null: what their other groups make of them.',
    examples: ['developer'],
  });

const ProjectsOfGroup = z
  .array(z.strictObject({ project_id: Uuid, project_role: ProjectRole }))
  .max(100)
  .refine((given) => new Set(given.map(({ project_id }) => project_id)).size === given.length, 'must name each project once')
  .meta({
    description: 'Projects that members of the group are members of.',
    examples: [[{ project_id: '019b0a4c-3a1e-7c55-9f0b-6a1d7e8f9a00', project_role: 'member' }]],
  });

export const DirectoryGroup = z
  .object({
    group_id: Uuid,
    display_name: z.string().meta({ description: 'As the directory names it.', examples: ['Engineering'] }),
    external_id: z
      .string()
      .nullable()
      .meta({ description: 'The directory’s own id of it.', examples: ['00g1'] }),
    account_role: RoleOfGroup,
    projects: ProjectsOfGroup,
  })
  .meta({ id: 'DirectoryGroup', description: 'A group of the company’s directory.' });
export type DirectoryGroup = z.infer<typeof DirectoryGroup>;

export const DirectoryGroupList = page(DirectoryGroup).meta({ id: 'DirectoryGroupList', description: 'Groups, the newest first.' });
export type DirectoryGroupList = z.infer<typeof DirectoryGroupList>;

export const UpdateDirectoryGroupRequest = z
  .strictObject({ account_role: RoleOfGroup.optional(), projects: ProjectsOfGroup.optional() })
  .meta({
    id: 'UpdateDirectoryGroupRequest',
    description: 'What the group gives. What is left out stays.',
    examples: [{ account_role: 'developer' }],
  });
export type UpdateDirectoryGroupRequest = z.infer<typeof UpdateDirectoryGroupRequest>;

const managing = { auth: 'bearer', session: true, manage: 'members:write', accountRole: 'admin', tag: 'Members' } as const;

export const directory = c.router({
  groups: {
    method: 'GET',
    path: '/v1/directory/groups',
    summary: 'List groups of the directory',
    description: 'The groups that the company’s directory has sent by SCIM, with the role that each gives.',
    headers: headersA,
    query: z.object(pageQuery),
    responses: { 200: DirectoryGroupList, ...refusals.read },
    metadata: { ...managing, manage: 'members:read', operationId: 'listDirectoryGroups', sdk: 'directory.groups' } as const,
  },
  updateGroup: {
    method: 'PATCH',
    path: '/v1/directory/groups/:group_id',
    summary: 'Give a group of the directory a role and projects',
    description:
      'In effect for its members at once. Of several groups the one with the most rights counts; owners keep their role. Who leaves the last group that gives a project leaves the project, and their API keys of it are revoked.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: z.object({ group_id: Uuid.meta({ description: 'The group’s id.' }) }),
    body: UpdateDirectoryGroupRequest,
    responses: { 200: DirectoryGroup, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...managing, operationId: 'updateDirectoryGroup', sdk: 'directory.updateGroup' } as const,
  },
});
