import { contract } from '@tallygate/contract';
import * as z from 'zod';
import { defineJob, type Job } from '../adapters/queue/port.ts';
import {
  createBounces,
  createEmailSender,
  createEmails,
  createEmailTemplates,
  createReturnPaths,
  createUnsubscribing,
  emailBounceRoutes,
  emailRoutes,
  emailTemplateRoutes,
} from '../emails/index.ts';
import { closeUnclaimed } from '../identity/index.ts';
import type { WayOut } from '../invites/index.ts';
import { createConsents, peopleRoutes } from '../marketing/index.ts';
import { forgetDeparted, indexPeople } from '../people/index.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';
import { consentAnswer, createMailAnswerPages, unsubscribeAnswer } from './http/mail-answer-pages.ts';
import type { PeerAddress } from './http/peer-address.ts';
import { createPeopleTransferApi } from './http/people-transfer-api.ts';
import { personRecords } from './person-records.ts';

/** How long a change may be looked up by itself before it is in the index. */
const INDEX_MS = 1_000;
/** How long a mail that is due waits. */
const SEND_MS = 1_000;
/** How long somebody waits for the mail that asks whether they want news. */
const ASK_MS = 1_000;
/** How long what a closed account left behind may stay. */
const FORGET_MS = 5_000;

export interface Marketing {
  readonly endpoints: readonly Endpoint[];
  readonly transfers: ReturnType<typeof createPeopleTransferApi>;
  readonly mailAnswerPages: ReturnType<typeof createMailAnswerPages>;
  /** What invitations say at their end, as all mails of the workspace. */
  readonly wayOut: WayOut;
  readonly jobs: readonly Job[];
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
  const { identity, authenticator } = accounts;
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
    mailAnswerPages: createMailAnswerPages([unsubscribeAnswer(unsubscribing), consentAnswer(consents)], log),
    wayOut: {
      unsubscribeUrlOf: async (inviteId) => `${publicUrl()}/unsubscribe?token=${await unsubscribing.tokenOf(inviteId)}`,
      postalAddress: config.mailPostalAddress,
    },
    transfers: createPeopleTransferApi({ pool, clock, authenticator, peerAddress, limits: config.files, publicUrl, log }),
    jobs: [
      defineJob({
        name: 'people-index',
        payload: z.object({}),
        schedule: { everyMs: INDEX_MS },
        // The next run takes up whatever this one has left.
        retry: { attempts: 1, firstDelayMs: INDEX_MS },
        run: (_payload, { signal }) => indexPeople(pool, signal),
      }),
      defineJob({
        name: 'people-forget-departed',
        payload: z.object({}),
        schedule: { everyMs: FORGET_MS },
        // The next run takes up whatever this one has left.
        retry: { attempts: 1, firstDelayMs: FORGET_MS },
        run: (_payload, { signal }) => forgetDeparted({ pool, records }, signal),
      }),
      defineJob({
        name: 'consents-ask',
        payload: z.object({}),
        schedule: { everyMs: ASK_MS },
        // The next run takes up whatever this one has left.
        retry: { attempts: 1, firstDelayMs: ASK_MS },
        run: (_payload, { signal }) => consents.askDue(signal),
      }),
      defineJob({
        name: 'emails-send',
        payload: z.object({}),
        schedule: { everyMs: SEND_MS },
        // The next run takes up whatever this one has left.
        retry: { attempts: 1, firstDelayMs: SEND_MS },
        run: (_payload, { signal }) => emailSender.sendDue(signal),
      }),
    ],
  };
}
