import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, isPlainText, NOT_PLAIN, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { Email, EXAMPLE_PASSWORD, NewPassword, UserName, UserResponse } from './identity.ts';

const c = initContract();

const CurrentPassword = z
  .string()
  .min(1)
  .max(256)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'The password as it is now.', examples: [EXAMPLE_PASSWORD] });

const MailToken = (prefix: string, description: string) =>
  z
    .string()
    .min(1)
    .max(100)
    .refine(isPlainText, NOT_PLAIN)
    .meta({ description, examples: [`${prefix}_x7Qm2…`] });

export const UserUpdateRequest = z
  .strictObject({
    name: UserName.nullable().optional().meta({ description: 'Display name; null removes it.' }),
    email: Email.optional().meta({
      description: 'The new address. It takes effect when the link that is sent to it is opened; until then nothing changes.',
    }),
    password: CurrentPassword.optional().meta({ description: 'The password; needed with `email`.' }),
    stores_content: z.boolean().optional().meta({
      description:
        'Whether prompts and answers may be stored. With `false`, nothing is stored from now on; existing content stays until it is deleted.',
    }),
  })
  .meta({ id: 'UserUpdateRequest', description: 'What to change; what is left out stays.', examples: [{ name: 'Ada King' }] });
export type UserUpdateRequest = z.infer<typeof UserUpdateRequest>;

export const PasswordChangeRequest = z
  .strictObject({ current_password: CurrentPassword, new_password: NewPassword })
  .meta({ id: 'PasswordChangeRequest', description: 'The old password and the new one.' });
export type PasswordChangeRequest = z.infer<typeof PasswordChangeRequest>;

export const SessionResponse = z
  .object({
    session_id: Uuid,
    current: z.boolean().meta({ description: 'Whether it is the session that asks.' }),
    created_at: Timestamp,
    last_used_at: Timestamp.meta({ description: 'To the minute.' }),
    expires_at: Timestamp,
    ip_address: z
      .string()
      .nullable()
      .meta({ examples: ['203.0.113.7'] }),
    user_agent: z
      .string()
      .nullable()
      .meta({ examples: ['Mozilla/5.0'] }),
  })
  .meta({ id: 'SessionResponse', description: 'A signed-in browser or terminal.' });
export type SessionResponse = z.infer<typeof SessionResponse>;

export const SessionListResponse = page(SessionResponse).meta({
  id: 'SessionListResponse',
  description: 'Live sessions, the last used first.',
});
export type SessionListResponse = z.infer<typeof SessionListResponse>;

export const AddressRequest = z
  .strictObject({ email: Email })
  .meta({ id: 'AddressRequest', description: 'An e-mail address; the answer does not reveal whether it has an account.' });
export type AddressRequest = z.infer<typeof AddressRequest>;

export const EmailVerifyRequest = z
  .strictObject({ token: MailToken('tgv', 'From the link in the mail.') })
  .meta({ id: 'EmailVerifyRequest', description: 'Proof that the address is read by its user.' });
export type EmailVerifyRequest = z.infer<typeof EmailVerifyRequest>;

export const PasswordResetRequest = z
  .strictObject({ token: MailToken('tgr', 'From the link in the mail.'), new_password: NewPassword })
  .meta({ id: 'PasswordResetRequest', description: 'A new password for the person who reads the mail.' });
export type PasswordResetRequest = z.infer<typeof PasswordResetRequest>;

export const AccountCloseRequest = z
  .strictObject({
    password: CurrentPassword,
    code: z
      .string()
      .trim()
      .min(6)
      .max(40)
      .refine(isPlainText, NOT_PLAIN)
      .optional()
      .meta({ description: 'Where a second factor is on: six digits from the app, or a recovery code.', examples: ['492039'] }),
  })
  .meta({ id: 'AccountCloseRequest', description: 'Proof that it is the owner who closes.' });
export type AccountCloseRequest = z.infer<typeof AccountCloseRequest>;

/** Always 202 with the same body: an answer must not reveal which addresses have an account. */
export const Accepted = z
  .object({ accepted: z.literal(true) })
  .meta({ id: 'Accepted', description: 'Taken. If the address has an account that this applies to, a mail is on its way.' });
export type Accepted = z.infer<typeof Accepted>;

const selfService = { auth: 'bearer', session: true, tag: 'Identity' } as const;
const open = { auth: 'none', tag: 'Identity' } as const;

export const account = c.router({
  update: {
    method: 'PATCH',
    path: '/v1/users/me',
    summary: 'Change the profile',
    description:
      'A new name at once. A new e-mail address needs the password, and takes effect with the link that is sent to it; the answer is the same when the address is somebody else’s.',
    headers: headersA,
    body: UserUpdateRequest,
    responses: { 200: UserResponse, ...refusals.write },
    metadata: { ...selfService, operationId: 'updateMe', sdk: 'identity.update', errors: { also: ['forbidden'] } },
  },
  changePassword: {
    method: 'POST',
    path: '/v1/users/me/password',
    summary: 'Change the password',
    description: 'Ends every other session of the user, and every reset link that was sent before.',
    headers: headersA,
    body: PasswordChangeRequest,
    responses: { 204: c.noBody(), ...refusals.write },
    metadata: { ...selfService, operationId: 'changePassword', sdk: 'identity.changePassword' },
  },
  listSessions: {
    method: 'GET',
    path: '/v1/users/me/sessions',
    summary: 'List the user’s sessions',
    description: 'Every session that is alive, with where it comes from.',
    headers: headersA,
    query: z.object(pageQuery),
    responses: { 200: SessionListResponse, ...refusals.read },
    metadata: { ...selfService, operationId: 'listSessions', sdk: 'sessions.list' },
  },
  endSession: {
    method: 'DELETE',
    path: '/v1/users/me/sessions/:session_id',
    summary: 'End one session of the user',
    description: 'The session’s token stops working at once. Ending an ended session changes nothing.',
    headers: headersA,
    pathParams: z.object({ session_id: Uuid.meta({ description: 'The session’s id.' }) }),
    responses: { 204: c.noBody(), 404: problem, ...refusals.read },
    metadata: { ...selfService, operationId: 'endSession', sdk: 'sessions.revoke' },
  },
  verifyEmail: {
    method: 'POST',
    path: '/v1/users/verify-email',
    summary: 'Confirm an e-mail address',
    description: 'Takes the token of the mail, once, within 24 hours. It also completes a change of address.',
    body: EmailVerifyRequest,
    responses: { 204: c.noBody(), 409: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'verifyEmail', sdk: 'identity.verifyEmail(token)' },
  },
  resendVerification: {
    method: 'POST',
    path: '/v1/users/verify-email/resend',
    summary: 'Send the confirmation mail again',
    description: 'Always 202, after the same work for every address. A mail goes out at most once a minute.',
    body: AddressRequest,
    responses: { 202: Accepted, ...refusals.openInput },
    metadata: { ...open, operationId: 'resendVerification', sdk: 'identity.resendVerification(email)' },
  },
  requestPasswordReset: {
    method: 'POST',
    path: '/v1/users/password-reset',
    summary: 'Ask for a new password',
    description: 'Always 202, after the same work for every address. A mail goes out at most once a minute.',
    body: AddressRequest,
    responses: { 202: Accepted, ...refusals.openInput },
    metadata: { ...open, operationId: 'requestPasswordReset', sdk: 'identity.requestPasswordReset(email)' },
  },
  resetPassword: {
    method: 'POST',
    path: '/v1/users/password-reset/confirm',
    summary: 'Set a new password',
    description:
      'Takes the token of the mail, once, within an hour. Ends every session of the user; a second factor stays on and is asked for at the next login.',
    body: PasswordResetRequest,
    responses: { 204: c.noBody(), ...refusals.openInput },
    metadata: { ...open, operationId: 'resetPassword', sdk: 'identity.resetPassword' },
  },
  close: {
    method: 'POST',
    path: '/v1/users/me/close',
    summary: 'Close the account',
    description:
      'Revokes every API key and session at once and frees the e-mail address. Usage, receipts and postings stay as they are. Registrations, invitations and requests under its address lose who they were within seconds; a place that nothing was paid for goes to the next person on the waitlist. It cannot be undone. The last administrator is refused, and so is an account that has other members.',
    headers: headersA,
    body: AccountCloseRequest,
    responses: { 204: c.noBody(), 409: problem, ...refusals.write },
    metadata: { ...selfService, accountRole: 'owner', operationId: 'closeAccount', sdk: 'identity.close' },
  },
});
