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

const ProjectPath = z.object({ project_id: Uuid.meta({ description: 'The project’s id.' }) });
/** Projects decide what is spent on: API keys, which belong to them, change none. */
const bySession = { auth: 'bearer', session: true, manage: 'projects:write', accountRole: 'admin', tag: 'Projects' } as const;
const read = { auth: 'bearer', scope: 'account:read', tag: 'Projects' } as const;

export const projects = c.router({
  list: {
    method: 'GET',
    path: '/v1/projects',
    summary: 'List projects',
    description: 'Projects of the account, archived ones included, the newest first.',
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
});
