import { contract } from '@tallygate/contract';
import { closeUnclaimed } from '../access/identity/index.ts';
import type { Timer } from '../adapters/timers/port.ts';
import {
  createBounces,
  createEmailSender,
  createEmails,
  createEmailTemplates,
  createReturnPaths,
  createUnsubscribing,
  EMAILS_DUE,
  emailBounceRoutes,
  emailRoutes,
  emailTemplateRoutes,
} from '../community/emails/index.ts';
import type { UnsubscribeFooter } from '../community/invites/index.ts';
import { createConsents, peopleRoutes } from '../community/marketing/index.ts';
import { CONSENTS_DUE, DEPARTED_DUE, forgetDeparted, indexPeople, PEOPLE_UNINDEXED } from '../community/people/index.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';
import { consentAnswer, mailAnswerRoutes, unsubscribeAnswer } from './http/mail-answer-pages.ts';
import type { PeerAddress } from './http/peer-address.ts';
import { peopleTransferRoutes } from './http/people-transfer-api.ts';
import type { ServedRoute } from './http/router.ts';
import { personRecords } from './person-records.ts';

export interface Marketing {
  readonly endpoints: readonly Endpoint[];
  /** What is answered beside the endpoints: people as CSV, and the links of mails. */
  readonly routes: readonly ServedRoute[];
  /** What invitations say at their end, as all mails of the workspace. */
  readonly unsubscribeFooter: UnsubscribeFooter;
  readonly timers: readonly Timer[];
}

interface MarketingDeps {
  readonly foundation: Foundation;
  readonly accounts: Accounts;
  readonly peerAddress: PeerAddress;
  readonly publicUrl: () => string;
}

/** The people the service knows, and what the marketing team does with them. */
export function openMarketing({ foundation, accounts, peerAddress, publicUrl }: MarketingDeps): Marketing {
  const { pool, clock, config, log } = foundation;
  const { identity } = accounts;
  const isStaff = async (userId: string) => ['marketing', 'admin'].includes((await identity.users.find(userId))?.role ?? 'member');
  const addressOf = async (userId: string) => (await identity.users.find(userId))?.email;
  const unsubscribing = createUnsubscribing({ pool, clock });
  const consents = createConsents({ pool, clock, openReference: identity.openReference });
  const { sender } = accounts;
  const returnPaths = config.mailBounceAddress === undefined ? undefined : createReturnPaths({ pool, address: config.mailBounceAddress });
  const emailSender = createEmailSender({
    ...{ pool, sender, unsubscribing, clock, log, publicUrl, returnPaths, postalAddress: config.mailPostalAddress },
    perSecond: config.emailsPerSecond,
  });
  const records = personRecords(clock);
  return {
    endpoints: [
      ...endpointsOf(contract.people, peopleRoutes({ pool, clock, isStaff, records, closeUnclaimed })),
      ...endpointsOf(
        contract.emails,
        emailRoutes(
          createEmails({ pool, clock, publicUrl, addressOf, postalAddress: config.mailPostalAddress, replyTo: config.mailReplyTo }),
        ),
      ),
      ...endpointsOf(contract.emailBounces, emailBounceRoutes(createBounces({ pool, clock, unsubscribing, returnPaths }))),
      ...endpointsOf(contract.emailTemplates, emailTemplateRoutes(createEmailTemplates({ pool, clock }))),
    ],
    routes: [
      ...peopleTransferRoutes({ pool, clock, peerAddress, limits: config.files, log }),
      ...mailAnswerRoutes([unsubscribeAnswer(unsubscribing), consentAnswer(consents)], log),
    ],
    unsubscribeFooter: {
      unsubscribeUrlOf: async (inviteId) => `${publicUrl()}/unsubscribe?token=${await unsubscribing.tokenOf(inviteId)}`,
      postalAddress: config.mailPostalAddress,
    },
    timers: [
      { name: 'people-index', due: PEOPLE_UNINDEXED, run: ({ signal }) => indexPeople(pool, signal) },
      { name: 'people-forget-departed', due: DEPARTED_DUE, run: ({ signal }) => forgetDeparted({ pool, records }, signal) },
      { name: 'consents-ask', due: CONSENTS_DUE, run: ({ signal }) => consents.askDue(signal) },
      { name: 'emails-send', due: EMAILS_DUE, run: ({ signal }) => emailSender.sendDue(signal) },
    ],
  };
}
