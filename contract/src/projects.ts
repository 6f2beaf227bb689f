import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  ExternalId,
  ExternalIdOrNull,
  headersA,
  idempotencyHeader,
  isPlainText,
  NOT_PLAIN,
  page,
  pageQuery,
  problem,
  refusals,
  Timestamp,
  Uuid,
} from './conventions.ts';

const c = initContract();

const name = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'For people.', examples: ['search'] });
export const Project = z
  .object({
    project_id: Uuid,
    name: z.string().meta({ examples: ['search'] }),
    external_id: ExternalIdOrNull,
    created_at: Timestamp,
    archived_at: Timestamp.nullable().meta({ description: 'When it was archived; null while it is in use.', examples: [null] }),
  })
  .meta({ id: 'Project', description: 'A part of an account’s work, with API keys and limits.' });
export type Project = z.infer<typeof Project>;

export const ProjectList = page(Project).meta({ id: 'ProjectList', description: 'Projects, the newest first.' });
export type ProjectList = z.infer<typeof ProjectList>;

export const CreateProjectRequest = z
  .strictObject({ name, external_id: ExternalId.optional() })
  .meta({ id: 'CreateProjectRequest', description: 'A new project.', examples: [{ name: 'search', external_id: 'team-search' }] });
export type CreateProjectRequest = z.infer<typeof CreateProjectRequest>;

export const UpdateProjectRequest = z
  .strictObject({
    name: name.optional(),
    archived: z
      .boolean()
      .optional()
      .meta({ description: '`true` archives it and revokes its API keys; `false` takes it into use again, with new keys.' }),
  })
  .meta({ id: 'UpdateProjectRequest', description: 'What to change.', examples: [{ name: 'search and ads' }] });
export type UpdateProjectRequest = z.infer<typeof UpdateProjectRequest>;

export const ProjectRole = z.enum(['admin', 'member']).meta({
  id: 'ProjectRole',
  description: '`member`: sees the project and makes API keys in it. `admin`: also says who its members are.',
});
export type ProjectRole = z.infer<typeof ProjectRole>;

export const ProjectMember = z
  .object({
    user_id: Uuid,
    email: z.string().meta({ examples: ['ada@example.com'] }),
    name: z
      .string()
      .nullable()
      .meta({ examples: ['Ada Lovelace'] }),
    project_role: ProjectRole,
    by_directory: z
      .boolean()
      .meta({ description: 'Whether a group of the company’s directory made them a member: leaving it removes them.' }),
    added_at: Timestamp,
  })
  .meta({ id: 'ProjectMember', description: 'A person of a project.' });
export type ProjectMember = z.infer<typeof ProjectMember>;

export const ProjectMemberList = page(ProjectMember).meta({ id: 'ProjectMemberList', description: 'Members of a project.' });
export type ProjectMemberList = z.infer<typeof ProjectMemberList>;

export const PutProjectMemberRequest = z
  .strictObject({ project_role: ProjectRole.default('member') })
  .meta({ id: 'PutProjectMemberRequest', description: 'What they are in the project.', examples: [{ project_role: 'member' }] });
export type PutProjectMemberRequest = z.infer<typeof PutProjectMemberRequest>;

const ProjectPath = z.object({ project_id: Uuid.meta({ description: 'The project’s id.' }) });
const MemberPath = ProjectPath.extend({ user_id: Uuid.meta({ description: 'The member’s id.' }) });
/** Projects decide what is spent on: API keys, which belong to them, change none. */
const bySession = { auth: 'bearer', session: true, manage: 'projects:write', accountRole: 'admin', tag: 'Projects' } as const;
/** Admins of the project, too, whatever they are in the account. */
const byProjectAdmins = {
  auth: 'bearer',
  session: true,
  manage: 'projects:write',
  tag: 'Projects',
  errors: { also: ['forbidden'] },
} as const;
const read = { auth: 'bearer', scope: 'account:read', tag: 'Projects' } as const;

export const projects = c.router({
  list: {
    method: 'GET',
    path: '/v1/projects',
    summary: 'List projects',
    description: 'Projects of the account, archived ones included, the newest first. Developers see the projects that they are members of.',
    headers: headersA,
    query: z.object({ external_id: ExternalId.optional().meta({ description: 'Only the project with this id of yours.' }), ...pageQuery }),
    responses: { 200: ProjectList, ...refusals.read },
    metadata: { ...read, operationId: 'listProjects', sdk: 'projects.list' } as const,
  },
  create: {
    method: 'POST',
    path: '/v1/projects',
    summary: 'Create a project',
    description: 'With an `external_id` that a project of the account has already, the answer is that project; another name is 409.',
    headers: { ...headersA, ...idempotencyHeader },
    body: CreateProjectRequest,
    responses: { 201: Project, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'createProject', sdk: 'projects.create' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/projects/:project_id',
    summary: 'Get a project',
    description: 'One project of the account.',
    headers: headersA,
    pathParams: ProjectPath,
    responses: { 200: Project, 404: problem, ...refusals.read },
    metadata: { ...read, operationId: 'getProject', sdk: 'projects.get' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/projects/:project_id',
    summary: 'Change or archive a project',
    description: 'The API keys of a project that is archived stop working on every gateway within a second.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: ProjectPath,
    body: UpdateProjectRequest,
    responses: { 200: Project, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'updateProject', sdk: 'projects.update' } as const,
  },
  members: {
    method: 'GET',
    path: '/v1/projects/:project_id/members',
    summary: 'List members of a project',
    description: 'People who were added to the project. Owners and admins of the account are in every project without it.',
    headers: headersA,
    pathParams: ProjectPath,
    query: z.object(pageQuery),
    responses: { 200: ProjectMemberList, 404: problem, ...refusals.read },
    metadata: {
      auth: 'bearer',
      session: true,
      manage: 'members:read',
      tag: 'Projects',
      operationId: 'listProjectMembers',
      sdk: 'projects.members',
    } as const,
  },
  putMember: {
    method: 'PUT',
    path: '/v1/projects/:project_id/members/:user_id',
    summary: 'Add a member to a project, or change their role in it',
    description:
      'For owners and admins of the account, and for admins of the project. Repeating it changes nothing. Members whom a group of the directory added are changed there: `conflict`.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: MemberPath,
    body: PutProjectMemberRequest,
    responses: { 200: ProjectMember, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...byProjectAdmins, operationId: 'putProjectMember', sdk: 'projects.putMember' } as const,
  },
  removeMember: {
    method: 'DELETE',
    path: '/v1/projects/:project_id/members/:user_id',
    summary: 'Remove a member from a project',
    description:
      'Revokes their API keys of the project, and those that they rotated, on every gateway within a second. Members may remove themselves. Members whom a group of the directory added are removed there: `conflict`.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: MemberPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...byProjectAdmins, operationId: 'removeProjectMember', sdk: 'projects.removeMember' } as const,
  },
});
