import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, page, pageQuery, problem, refusals, Uuid } from './conventions.ts';
import { Email, Role, UserResponse } from './identity.ts';

const c = initContract();

export const UserListResponse = page(UserResponse).meta({
  id: 'UserListResponse',
  description: 'Users of the gateway, the newest first; who has closed their account is not among them.',
});
export type UserListResponse = z.infer<typeof UserListResponse>;

export const RoleUpdateRequest = z.strictObject({ role: Role }).meta({
  id: 'RoleUpdateRequest',
  description: 'What the user may administer from now on.',
  examples: [{ role: 'marketing' }],
});
export type RoleUpdateRequest = z.infer<typeof RoleUpdateRequest>;

/** An API key of an administrator opens the account it belongs to and no other. */
const administers = { auth: 'bearer', session: true, role: 'admin', tag: 'Identity' } as const;

export const users = c.router({
  list: {
    method: 'GET',
    path: '/v1/admin/users',
    summary: 'List users',
    description: 'For administrators: everybody, or who has a role, or whose e-mail address it is.',
    headers: headersA,
    query: z.object({
      role: Role.optional().meta({ description: 'Only who has this role.' }),
      email: Email.optional().meta({ description: 'Only whose address this is, upper or lower case.' }),
      ...pageQuery,
    }),
    responses: { 200: UserListResponse, ...refusals.read },
    metadata: { ...administers, manage: 'admin:read', operationId: 'listUsers', sdk: 'users.list' } as const,
  },
  setRole: {
    method: 'PUT',
    path: '/v1/admin/users/:user_id/role',
    summary: 'Give a user a role',
    description:
      'For administrators. It counts from the next request on, for sessions and keys alike; the user is notified by mail. Only an address that was confirmed gets a role other than `member`, and nobody changes their own.',
    headers: headersA,
    pathParams: z.object({ user_id: Uuid.meta({ description: 'The user’s id.' }) }),
    body: RoleUpdateRequest,
    responses: { 200: UserResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...administers, operationId: 'setUserRole', sdk: 'users.setRole(role)' } as const,
  },
});
