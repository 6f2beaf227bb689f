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
import { AccountRole, Email, NewPassword, UserName } from './identity.ts';

const c = initContract();

export const Member = z
  .object({
    user_id: Uuid,
    email: z.string().meta({ examples: ['ada@example.com'] }),
    name: z
      .string()
      .nullable()
      .meta({ examples: ['Ada Lovelace'] }),
    account_role: AccountRole,
    external_id: ExternalIdOrNull,
    mfa_enabled: z.boolean().meta({ examples: [true] }),
    joined_at: Timestamp,
  })
  .meta({ id: 'Member', description: 'A person of an account.' });
export type Member = z.infer<typeof Member>;

export const MemberList = page(Member).meta({ id: 'MemberList', description: 'Members of an account, the newest first.' });
export type MemberList = z.infer<typeof MemberList>;

export const UpdateMemberRequest = z
  .strictObject({ account_role: AccountRole.optional(), external_id: ExternalId.nullable().optional() })
  .meta({ id: 'UpdateMemberRequest', description: 'What to change.', examples: [{ account_role: 'developer' }] });
export type UpdateMemberRequest = z.infer<typeof UpdateMemberRequest>;

export const InviteMemberRequest = z
  .strictObject({ email: Email, account_role: AccountRole.default('developer'), external_id: ExternalId.optional() })
  .meta({ id: 'InviteMemberRequest', description: 'Who is invited.', examples: [{ email: 'ada@example.com', account_role: 'developer' }] });
export type InviteMemberRequest = z.infer<typeof InviteMemberRequest>;

export const MemberInvitation = z
  .object({
    invitation_id: Uuid,
    email: z.string().meta({ examples: ['ada@example.com'] }),
    account_role: AccountRole,
    external_id: ExternalIdOrNull,
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'MemberInvitation', description: 'An invitation that was not accepted yet.' });
export type MemberInvitation = z.infer<typeof MemberInvitation>;

export const MemberInvitationList = page(MemberInvitation).meta({
  id: 'MemberInvitationList',
  description: 'Invitations that can still be accepted, the newest first.',
});
export type MemberInvitationList = z.infer<typeof MemberInvitationList>;

export const AcceptInvitationRequest = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(100)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'Of the link in the mail.', examples: ['tgm_x7Qm2…'] }),
    new_password: NewPassword,
    name: UserName.optional(),
  })
  .meta({ id: 'AcceptInvitationRequest', description: 'The password of the new member.' });
export type AcceptInvitationRequest = z.infer<typeof AcceptInvitationRequest>;

const MemberPath = z.object({ user_id: Uuid.meta({ description: 'The member’s id.' }) });
/** API keys, which lie in configurations, neither read nor change who is in the account. */
const managing = { auth: 'bearer', session: true, manage: 'members:write', accountRole: 'admin', tag: 'Members' } as const;

export const members = c.router({
  list: {
    method: 'GET',
    path: '/v1/members',
    summary: 'List members',
    description: 'The people of the account.',
    headers: headersA,
    query: z.object({ external_id: ExternalId.optional().meta({ description: 'Only the member with this id of yours.' }), ...pageQuery }),
    responses: { 200: MemberList, ...refusals.read },
    metadata: {
      auth: 'bearer',
      session: true,
      manage: 'members:read',
      tag: 'Members',
      operationId: 'listMembers',
      sdk: 'members.list',
    } as const,
  },
  invitations: {
    method: 'GET',
    path: '/v1/members/invitations',
    summary: 'List invitations',
    description: 'Invitations that can still be accepted.',
    headers: headersA,
    query: z.object(pageQuery),
    responses: { 200: MemberInvitationList, ...refusals.read },
    metadata: { ...managing, manage: 'members:read', operationId: 'listMemberInvitations', sdk: 'members.invitations' } as const,
  },
  invite: {
    method: 'POST',
    path: '/v1/members/invitations',
    summary: 'Invite a member',
    description:
      'Mails a link that works for seven days and replaces an earlier one. With an `external_id`, an open invitation of the same address and role is the answer, and no further mail is sent; another one, or a member who has the id, is 409. Only an owner invites owners.',
    headers: { ...headersA, ...idempotencyHeader },
    body: InviteMemberRequest,
    responses: { 201: MemberInvitation, 409: problem, ...refusals.write },
    metadata: { ...managing, operationId: 'inviteMember', sdk: 'members.invite' } as const,
  },
  withdraw: {
    method: 'DELETE',
    path: '/v1/members/invitations/:invitation_id',
    summary: 'Withdraw an invitation',
    description: 'Its link no longer works.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: z.object({ invitation_id: Uuid.meta({ description: 'The invitation’s id.' }) }),
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...managing, operationId: 'withdrawMemberInvitation', sdk: 'members.withdraw' } as const,
  },
  accept: {
    method: 'POST',
    path: '/v1/members/accept',
    summary: 'Accept an invitation',
    description: 'Makes a user in the account that invited them, with the address that the mail went to. A token works once.',
    body: AcceptInvitationRequest,
    responses: { 201: Member, 409: problem, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Members', operationId: 'acceptMemberInvitation', sdk: 'members.accept' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/members/:user_id',
    summary: 'Change a member',
    description:
      'In effect for sessions at once and for API keys within a second. Only an owner makes or changes owners; the last one stays.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: MemberPath,
    body: UpdateMemberRequest,
    responses: { 200: Member, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...managing, operationId: 'updateMember', sdk: 'members.update' } as const,
  },
  remove: {
    method: 'DELETE',
    path: '/v1/members/:user_id',
    summary: 'Remove a member',
    description:
      'Ends their sessions at once and revokes their API keys, those of projects too. Their address is free for another account.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: MemberPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...managing, operationId: 'removeMember', sdk: 'members.remove' } as const,
  },
});
