import { initContract } from '@ts-rest/core';
import { account } from './account.ts';
import { accounts } from './accounts.ts';
import { anchors } from './anchors.ts';
import { audit } from './audit.ts';
import { batches } from './batches.ts';
import { budgets } from './budgets.ts';
import { catalog } from './catalog.ts';
import { clientRequests } from './client-requests.ts';
import { content } from './content.ts';
import { deployments } from './deployments.ts';
import { deviceLogins } from './device-logins.ts';
import { directory } from './directory.ts';
import { discovery, documents } from './discovery.ts';
import { emailBounces } from './email-bounces.ts';
import { emailTemplates } from './email-templates.ts';
import { emails } from './emails.ts';
import { eventCheckouts, marketingEvents, registrations, siteEvents } from './events.ts';
import { files, fileTransfers, uploads } from './files.ts';
import { identity } from './identity.ts';
import {
  conversations,
  googleModels,
  inference,
  messageTokens,
  realtime,
  storedChats,
  storedResponses,
  videos,
  videoTransfers,
} from './inference.ts';
import { invites } from './invites.ts';
import { invoices } from './invoices.ts';
import { keys } from './keys.ts';
import { ledger } from './ledger.ts';
import { limits } from './limits.ts';
import { live } from './live.ts';
import { managementKeys } from './management-keys.ts';
import { members } from './members.ts';
import { messageBatches, messageBatchTransfers } from './message-batches.ts';
import { mfa } from './mfa.ts';
import { passkeys } from './passkeys.ts';
import { people, peopleTransfers } from './people.ts';
import { paymentWebhooks, plans } from './plans.ts';
import { projects } from './projects.ts';
import { receiptTransfers } from './receipt-transfers.ts';
import { receipts } from './receipts.ts';
import { runs } from './runs.ts';
import { sso } from './sso.ts';
import { usage } from './usage.ts';
import { usageTransfers } from './usage-transfers.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';

const c = initContract();

/** The one contract: the server, the OpenAPI document, the SDK and the CLI follow from it. */
export const contract = c.router(
  {
    discovery,
    documents,
    identity,
    account,
    deviceLogins,
    sso,
    mfa,
    passkeys,
    users,
    accounts,
    audit,
    budgets,
    keys,
    managementKeys,
    catalog,
    deployments,
    inference,
    messageTokens,
    realtime,
    googleModels,
    storedResponses,
    conversations,
    storedChats,
    files,
    uploads,
    fileTransfers,
    videos,
    videoTransfers,
    batches,
    messageBatches,
    messageBatchTransfers,
    ledger,
    usage,
    usageTransfers,
    runs,
    live,
    projects,
    members,
    directory,
    limits,
    webhooks,
    receipts,
    invoices,
    anchors,
    receiptTransfers,
    plans,
    paymentWebhooks,
    // Before the events: `/v1/events/vibethon` is no slug to them.
    registrations,
    peopleTransfers,
    people,
    emails,
    emailBounces,
    emailTemplates,
    siteEvents,
    content,
    eventCheckouts,
    marketingEvents,
    clientRequests,
    invites,
  },
  { strictStatusCodes: true },
);

export * from './account.ts';
export * from './accounts.ts';
export * from './anchors.ts';
export * from './audit.ts';
export * from './batches.ts';
export * from './budgets.ts';
export * from './catalog.ts';
export * from './client-requests.ts';
export * from './content.ts';
export { type RouteMetadata, wholeNumber } from './conventions.ts';
export * from './corrections.ts';
export * from './deployments.ts';
export * from './device-logins.ts';
export * from './directory.ts';
export * from './discovery.ts';
export { asciiAddress, EmailAddress } from './email-address.ts';
export * from './email-bounces.ts';
export * from './email-templates.ts';
export * from './emails.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './files.ts';
export * from './identity.ts';
export * from './inference.ts';
export * from './invites.ts';
export * from './invoices.ts';
export * from './keys.ts';
export * from './latency.ts';
export * from './ledger.ts';
export * from './limits.ts';
export * from './live.ts';
export * from './log-declarations.ts';
export * from './management-keys.ts';
export * from './members.ts';
export * from './message-batches.ts';
export * from './mfa.ts';
export * from './openai-errors.ts';
export * from './passkeys.ts';
export * from './people.ts';
export type { PeopleFilter } from './people-filter.ts';
export * from './plans.ts';
export * from './problem.ts';
export * from './projects.ts';
export * from './receipt-payment.ts';
export * from './receipt-usage.ts';
export * from './receipts.ts';
export * from './runs.ts';
export {
  ACCOUNT_ROLES_OF_GROUPS,
  accountRoleAllows,
  DEFAULT_SCOPES,
  MANAGEMENT_SCOPES,
  ManagementScope,
  managementScopeOf,
  SCOPE_ROLES,
  SCOPES,
  type Scope,
  scopesOfRole,
} from './scopes.ts';
export * from './sso.ts';
export { SURFACE_HEADERS, SURFACES, type Surface, statusAt, statusOn } from './surfaces.ts';
export * from './usage.ts';
export * from './usage-transfers.ts';
export * from './users.ts';
export * from './vaas-keys.ts';
export * from './webhook-events.ts';
export * from './webhooks.ts';
