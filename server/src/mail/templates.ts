import * as z from 'zod';
import {
  composeInvoiceIssued,
  composePaymentDisputed,
  composePaymentLate,
  composePlanChanged,
  composeSpendAlert,
  composeTopUpDeclined,
  InvoiceIssued,
  PaymentDisputed,
  PaymentLate,
  PlanChanged,
  SpendAlert,
  TopUpDeclined,
} from './billing-letters.ts';
import { BudgetAlert, composeBudgetAlert } from './budget-alert.ts';
import {
  ClientRequestNotice,
  ClientRequestReceived,
  composeClientRequestNotice,
  composeClientRequestReceived,
} from './client-request-letters.ts';
import { ConfirmConsent, composeConfirmConsent } from './consent-letter.ts';
import {
  composeEventChanged,
  composeEventPaymentReturned,
  composeEventRegistration,
  EventChanged,
  EventPaymentReturned,
  EventRegistration,
} from './event-letters.ts';
import { BetaInvite, composeBetaInvite } from './invite-letter.ts';
import type { Letter } from './letter.ts';
import { composeLimitAlert, LimitAlert } from './limit-letter.ts';
import { readableTime } from './readable-time.ts';
import { composeWebhookDisabled, WebhookDisabled } from './webhook-letter.ts';

/** Of words that somebody chose who is a stranger to the recipient: no mail program makes a link of what is left. */
const withoutLinks = (words: string): string => words.replaceAll(/[.:/@]+(?=\S)/g, ' ');

/** What a template may use beyond its own data. */
export interface Desk {
  /** An address of the web front end: `/verify-email?token=…` after its base. */
  link(path: string, query: Readonly<Record<string, string>>): string;
  /** An address of this server's own pages, with a reference that only this server can read. */
  sealedLink(path: string, reference: string): string;
  /** The plain text of a token that lies sealed in the mail's row. */
  unseal(sealed: string): string;
}

interface Template<Data> {
  /** What the row has to hold. */
  readonly data: z.ZodType<Data>;
  /** @throws when the row does not hold it: rows may have been written by an older version of the server */
  compose(data: unknown, desk: Desk): Letter;
}

const template = <Data>(one: { data: z.ZodType<Data>; compose(data: Data, desk: Desk): Letter }): Template<Data> => ({
  data: one.data,
  compose: (data, desk) => one.compose(one.data.parse(data), desk),
});

const NOT_YOU = 'If this was not you, change your password at once and end the sessions you do not know.';
const NOT_ASKED = 'If you did not ask for this, do nothing: without the link nothing changes.';

/** When and from where something was done to an account. */
const Event = z.object({ at: z.string(), ip: z.string().nullable(), user_agent: z.string().nullable() });
type Event = z.infer<typeof Event>;

const eventFacts = ({ at, ip, user_agent }: Event) => [
  ['When', readableTime(at)] as const,
  ...(ip ? [['From', ip] as const] : []),
  ...(user_agent ? [['With', user_agent] as const] : []),
];

/** Something was done to an account, and its owner should know of it from somewhere else than the account. */
const notice = (subject: string, sentence: string, footnote = NOT_YOU) =>
  template({
    data: Event,
    compose: (event) => ({ subject, preview: sentence, paragraphs: [sentence], facts: eventFacts(event), footnote }),
  });

/** About plans and money; each leads to the billing page. */
const billing = <Data>(data: z.ZodType<Data>, compose: (data: Data, billingUrl: string) => Letter) =>
  template({ data, compose: (told, { link }) => compose(told, link('/billing', {})) });

/** Every mail the service sends by itself, by the name that its row carries. */
export const TEMPLATES = {
  'verify-email': template({
    data: z.object({ sealed_token: z.string(), expires_at: z.string() }),
    compose: ({ sealed_token, expires_at }, { link, unseal }) => ({
      subject: 'Confirm your e-mail address',
      preview: 'One click, and this address is yours at Tallygate.',
      paragraphs: [
        `Somebody made an account at Tallygate with this address. If it was you, confirm the address before ${readableTime(expires_at)}.`,
        'If you did not make it yourself, do not confirm it: somebody else knows its password. To have it for yourself, ask for a new password.',
      ],
      action: { label: 'Confirm this address', url: link('/verify-email', { token: unseal(sealed_token) }) },
      footnote: NOT_ASKED,
    }),
  }),
  'reset-password': template({
    data: z.object({ sealed_token: z.string(), expires_at: z.string() }),
    compose: ({ sealed_token, expires_at }, { link, unseal }) => ({
      subject: 'Set a new password',
      preview: 'A new password was asked for.',
      paragraphs: [
        `A new password was asked for. The link works once, until ${readableTime(expires_at)}; setting it ends every session of yours.`,
      ],
      action: { label: 'Set a new password', url: link('/reset-password', { token: unseal(sealed_token) }) },
      footnote: NOT_ASKED,
    }),
  }),
  'member-invited': template({
    data: z.object({ sealed_token: z.string(), expires_at: z.string(), account: z.string(), inviter: z.string(), role: z.string() }),
    compose: ({ sealed_token, expires_at, account, inviter, role }, { link, unseal }) => ({
      subject: `${inviter} invites you to Tallygate`,
      preview: 'Set a password, and you are a member.',
      paragraphs: [
        `${inviter} invites you to the account “${withoutLinks(account)}” at Tallygate. Set a password to accept.`,
        `The link works once, until ${readableTime(expires_at)}.`,
      ],
      facts: [['Role', role]],
      action: { label: 'Accept the invitation', url: link('/accept-invitation', { token: unseal(sealed_token) }) },
      footnote: 'If you do not know who invites you, do nothing: without the link no login is made.',
    }),
  }),
  'claim-account': template({
    data: z.object({ sealed_token: z.string(), expires_at: z.string() }),
    compose: ({ sealed_token, expires_at }, { link, unseal }) => ({
      subject: 'An account was made for you',
      preview: 'Set a password, and it is yours.',
      paragraphs: [
        'Your address was registered at Tallygate, so there is an account for it. It has no password yet: set one, and you can log in.',
        `The link works once, until ${readableTime(expires_at)}. Later, ask for a new password with this address.`,
      ],
      action: { label: 'Set a password', url: link('/reset-password', { token: unseal(sealed_token) }) },
      footnote: 'If you did not register for anything, do nothing: without the link nobody can log in to the account.',
    }),
  }),
  'take-over-account': template({
    data: z.object({ sealed_token: z.string(), expires_at: z.string() }),
    compose: ({ sealed_token, expires_at }, { link, unseal }) => ({
      subject: 'Make the account of this address yours',
      preview: 'Something waits for you at Tallygate.',
      paragraphs: [
        'A registration or an invitation at Tallygate is meant for this address. There is an account with the address, but its owner has not confirmed the address; so nothing reaches that account yet.',
        'Set a password, and the account is yours: all its sessions and API keys from before end, and what waits for you reaches it.',
        `The link works once, until ${readableTime(expires_at)}. Later, ask for a new password with this address.`,
      ],
      action: { label: 'Set a password', url: link('/reset-password', { token: unseal(sealed_token) }) },
      footnote: 'If you expect nothing from Tallygate, do nothing: without the link nothing changes.',
    }),
  }),
  'event-changed': template({
    data: EventChanged,
    compose: (told, { link }) => composeEventChanged(told, link(`/events/${told.slug}`, {})),
  }),
  'event-registration': template({
    data: EventRegistration,
    compose: (told, { link, sealedLink }) =>
      composeEventRegistration(told, {
        eventUrl: told.pay_reference ? sealedLink(`/events/${told.slug}/pay`, told.pay_reference) : link(`/events/${told.slug}`, {}),
        cancelUrl: told.cancel_token === undefined ? undefined : link('/cancel-registration', { token: told.cancel_token }),
      }),
  }),
  'event-payment-returned': template({
    data: EventPaymentReturned,
    compose: (told, { link }) => composeEventPaymentReturned(told, link(`/events/${told.slug}`, {})),
  }),
  'client-request-received': template({ data: ClientRequestReceived, compose: composeClientRequestReceived }),
  'client-request-notice': template({ data: ClientRequestNotice, compose: composeClientRequestNotice }),
  'confirm-consent': template({
    data: ConfirmConsent,
    compose: (told, { sealedLink }) => composeConfirmConsent(told, sealedLink('/marketing-consent', told.reference)),
  }),
  'beta-invite': template({
    data: BetaInvite,
    compose: (told, { link, unseal }) => composeBetaInvite(told, link('/invite', { code: unseal(told.sealed_code), email: told.email })),
  }),
  'password-changed': notice('Your password was changed', 'The password of your account was changed, and other sessions were ended.'),
  'email-change-requested': notice(
    'A new e-mail address was asked for',
    'Somebody who is logged in to your account wants it to have another e-mail address. It changes when the mail to that address is answered.',
    'If this was not you, set a new password now: that ends other sessions, and the change with them.',
  ),
  'email-changed': notice(
    'Your e-mail address was changed',
    'Your account now has another e-mail address; mail to this one has come to its end.',
    'If this was not you, answer this mail or write to the operator of the service: the new address can log in.',
  ),
  'mfa-enabled': notice('Two-factor login is on', 'From now on a login needs a code from your authenticator app.'),
  'mfa-disabled': notice('Two-factor login is off', 'From now on the password alone is enough to log in.'),
  'recovery-code-used': notice('A recovery code was used', 'Somebody logged in with one of your recovery codes; it will not work again.'),
  'passkey-added': notice(
    'A passkey was added',
    'From now on a passkey that was made just now logs in to your account.',
    'If this was not you, remove the passkey, change your password at once and end the sessions you do not know.',
  ),
  'passkey-removed': notice('A passkey was removed', 'A passkey of your account was removed: it does not log in any more.'),
  'passkey-copied': notice(
    'There may be a copy of your passkey',
    'A passkey of your account was refused: the counter of its device says that somebody else has used it. Nobody got in.',
    'Log in with your password, remove the passkey and make a new one.',
  ),
  'logins-failed': notice(
    'Failed logins to your account',
    'Somebody has failed five times within an hour to log in to your account. Nobody got in.',
    'If it was you, there is nothing to do. If not, see that your password is used nowhere else, and set up a second factor.',
  ),
  'second-factors-failed': notice(
    'Somebody knows your password',
    'Somebody has failed five times within an hour to log in to your account, the last time with the right password and a wrong code of your second factor. Nobody got in.',
    'If it was not you, change your password at once.',
  ),
  'role-changed': notice(
    'Your role was changed',
    'An administrator gave your account another role at this gateway: what you may see and change there is no longer the same.',
    'Your profile says which it is now. If you expected no change, tell the operator of the service.',
  ),
  'account-closed': notice(
    'Your account is closed',
    'Your account is closed: its API keys and sessions have ended. What was used and paid stays on record, as the law asks.',
    'If this was not you, write to the operator of the service.',
  ),
  'spend-alert': billing(SpendAlert, composeSpendAlert),
  'limit-alert': template({ data: LimitAlert, compose: (told, { link }) => composeLimitAlert(told, link('/limits', {})) }),
  'plan-changed': billing(PlanChanged, composePlanChanged),
  'payment-late': billing(PaymentLate, composePaymentLate),
  'top-up-declined': billing(TopUpDeclined, composeTopUpDeclined),
  'payment-disputed': billing(PaymentDisputed, composePaymentDisputed),
  'invoice-issued': billing(InvoiceIssued, composeInvoiceIssued),
  'webhook-disabled': template({
    data: WebhookDisabled,
    compose: (told, { link }) => composeWebhookDisabled(told, link('/webhooks', { webhook_id: told.webhook_id })),
  }),
  'budget-alert': template({
    data: BudgetAlert,
    compose: (alert, { link }) => composeBudgetAlert(alert, link('/keys', alert.key_id === null ? {} : { key_id: alert.key_id })),
  }),
};

export type TemplateName = keyof typeof TEMPLATES;

/** What a template's row has to hold. */
export type TemplateData<Name extends TemplateName> = z.infer<(typeof TEMPLATES)[Name]['data']>;

/** Composes the mail of a row. @throws when there is no such template, or the row lacks its data */
export function composeLetter(name: string, data: unknown, desk: Desk): Letter {
  if (!isTemplateName(name)) throw new Error(`There is no mail template ${name}`);
  return TEMPLATES[name].compose(data, desk);
}

const isTemplateName = (name: string): name is TemplateName => Object.hasOwn(TEMPLATES, name);
