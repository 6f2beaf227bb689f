import type { Migration } from '../migrate.ts';
import { foundation } from './0001-foundation.ts';
import { identityMigration } from './0002-identity.ts';
import { keysMigration } from './0003-keys.ts';
import { ledgerMigration } from './0004-ledger.ts';
import { receiptsMigration } from './0005-receipts.ts';
import { idempotencyMigration } from './0006-idempotency.ts';
import { identityAccountMigration } from './0007-identity-account.ts';
import { mailAndAuditMigration } from './0008-mail-and-audit.ts';
import { budgetsMigration } from './0009-budgets.ts';
import { keysCompleteMigration } from './0010-keys-complete.ts';
import { refusalAlertsMigration } from './0011-refusal-alerts.ts';
import { paymentsSandboxMigration } from './0020-payments-sandbox.ts';
import { filesMigration } from './0021-files.ts';
import { refundsAndMetersMigration } from './0022-refunds-and-meters.ts';
import { responsesMigration } from './0023-responses.ts';
import { batchesMigration } from './0024-batches.ts';
import { runsMigration } from './0025-runs.ts';
import { backgroundResponsesMigration } from './0026-background-responses.ts';
import { videosMigration } from './0027-videos.ts';
import { plansMigration } from './0028-plans.ts';
import { skippedDeploymentsMigration } from './0029-skipped-deployments.ts';
import { receiptLogMigration } from './0030-receipt-log.ts';
import { batchRunsMigration } from './0031-batch-runs.ts';
import { videoCharactersMigration } from './0032-video-characters.ts';
import { responseStreamsMigration } from './0033-response-streams.ts';
import { receiptListMigration } from './0035-receipt-list.ts';
import { logWitnessesMigration } from './0036-log-witnesses.ts';
import { anchorsMigration } from './0038-anchors.ts';
import { eventsMigration } from './0041-events.ts';
import { purchasesMigration } from './0042-purchases.ts';
import { peopleMigration } from './0044-people.ts';
import { importPeopleMigration } from './0045-import-people.ts';
import { emailsMigration } from './0046-emails.ts';
import { contentMigration } from './0047-content.ts';
import { clientRequestsMigration } from './0048-client-requests.ts';
import { invitesMigration } from './0049-invites.ts';
import { paymentCommandsMigration } from './0050-payment-commands.ts';
import { owedInvoicesMigration } from './0051-owed-invoices.ts';
import { correctionsMigration } from './0052-corrections.ts';
import { anchorsByStateMigration } from './0053-anchors-by-state.ts';
import { anchoredBatchesMigration } from './0054-anchored-batches.ts';
import { forgettingMigration } from './0056-forgetting.ts';
import { emailTemplatesMigration } from './0057-email-templates.ts';
import { suppressedPeopleMigration } from './0058-suppressed-people.ts';
import { eventLinksMigration } from './0059-event-links.ts';
import { deviceLoginsMigration } from './0063-device-logins.ts';
import { receiptsFollowedMigration } from './0064-receipts-followed.ts';
import { proofOfAddressesMigration } from './0067-proof-of-addresses.ts';
import { rolesMigration } from './0072-roles.ts';
import { logGuardMigration } from './0073-log-guard.ts';
import { mailsSentOnceMigration } from './0076-mails-sent-once.ts';
import { emailsInTurnMigration } from './0077-emails-in-turn.ts';
import { importInSetsMigration } from './0078-import-in-sets.ts';
import { refusedRecipientsMigration } from './0080-refused-recipients.ts';
import { consentMigration } from './0081-consent.ts';
import { invitesToManyMigration } from './0082-invites-to-many.ts';
import { peopleTextsMigration } from './0083-people-texts.ts';
import { consentFollowsAddressMigration } from './0084-consent-follows-the-address.ts';
import { lettersFoldedMigration } from './0085-letters-folded.ts';
import { consentAnsweredAfterImportMigration } from './0086-consent-answered-after-import.ts';
import { loginFailuresMigration } from './0087-login-failures.ts';
import { contentKeysMigration } from './0088-content-keys.ts';
import { catalogMigration } from './0089-catalog.ts';
import { plansAsDataMigration } from './0090-plans-as-data.ts';
import { batchLinesInFlightMigration } from './0091-batch-lines-in-flight.ts';
import { replacedPricesMigration } from './0092-replaced-prices.ts';
import { timersMigration } from './0093-timers.ts';
import { booksByBatchMigration } from './0094-books-by-batch.ts';
import { laneEpochsMigration } from './0095-lane-epochs.ts';
import { receiptsByMonthMigration } from './0096-receipts-by-month.ts';
import { archiveMigration } from './0097-archive.ts';
import { usageOfRunsMigration } from './0098-usage-of-runs.ts';
import { signedWhenReadMigration } from './0099-signed-when-read.ts';
import { sealedReceiptsMigration } from './0100-sealed-receipts.ts';
import { receiptNumbersMigration } from './0101-receipt-numbers.ts';
import { planOfUsageMigration } from './0102-plan-of-usage.ts';
import { signedInvoicesMigration } from './0103-signed-invoices.ts';
import { logTimestampsMigration } from './0104-log-timestamps.ts';
import { catalogRevisionKeyMigration } from './0105-catalog-revision-key.ts';
import { absentGatewaysMigration } from './0106-absent-gateways.ts';
import { logDeclarationsMigration } from './0107-log-declarations.ts';
import { auditRetentionMigration } from './0121-audit-retention.ts';
import { logTilesMigration } from './0130-log-tiles.ts';
import { packedReceiptsMigration } from './0131-packed-receipts.ts';
import { auditOfNewEntriesMigration } from './0132-audit-of-new-entries.ts';
import { promisesOfResponsesMigration } from './0135-promises-of-responses.ts';
import { dedicatedCapacityMigration } from './0160-dedicated-capacity.ts';
import { projectsAndLimitsMigration } from './0161-projects-and-limits.ts';
import { membersMigration } from './0162-members.ts';
import { shownSecretsMigration } from './0175-shown-secrets.ts';
import { webhooksMigration } from './0190-webhooks.ts';
import { deploymentsSetAsideMigration } from './0191-deployments-set-aside.ts';
import { alertsOfLimitsMigration } from './0192-alerts-of-limits.ts';
import { mergedWhileSeenMigration } from './0199-merged-while-seen.ts';
import { managementKeysMigration } from './0200-management-keys.ts';
import { validatedActorsMigration } from './0201-validated-actors.ts';
import { externalIdsMigration } from './0202-external-ids.ts';
import { directoryMigration } from './0204-directory.ts';
import { directorySignInMigration } from './0205-directory-sign-in.ts';
import { streamsSealedAsBytesMigration } from './0206-streams-sealed-as-bytes.ts';
import { priceSetsMigration } from './0220-price-sets.ts';
import { usageOfGroupsMigration } from './0225-usage-of-groups.ts';
import { directoryAddressesMigration } from './0255-directory-addresses.ts';
import { usageByQuarterHourMigration } from './0256-usage-by-quarter-hour.ts';
import { passkeysMigration, validatedLoginFailuresMigration } from './0260-passkeys.ts';
import { projectMembersMigration } from './0262-project-members.ts';
import { cachedAnswersMigration } from './0265-cached-answers.ts';
import { unfreedHoldsMigration } from './0275-unfreed-holds.ts';
import { auditLogByMonthMigration } from './0276-audit-log-by-month.ts';
import { projectsByDirectoryMigration } from './0305-projects-by-directory.ts';
import { usageSegmentsMigration } from './0310-usage-segments.ts';
import { limitsOfRunsMigration } from './0315-limits-of-runs.ts';

/** Every migration, in the order in which they are applied. New ones go to the end. */
export const migrations: readonly Migration[] = [
  foundation,
  identityMigration,
  keysMigration,
  ledgerMigration,
  receiptsMigration,
  idempotencyMigration,
  identityAccountMigration,
  mailAndAuditMigration,
  budgetsMigration,
  keysCompleteMigration,
  refusalAlertsMigration,
  paymentsSandboxMigration,
  filesMigration,
  refundsAndMetersMigration,
  responsesMigration,
  runsMigration,
  batchesMigration,
  backgroundResponsesMigration,
  plansMigration,
  videosMigration,
  skippedDeploymentsMigration,
  receiptLogMigration,
  batchRunsMigration,
  responseStreamsMigration,
  receiptListMigration,
  logWitnessesMigration,
  anchorsMigration,
  videoCharactersMigration,
  eventsMigration,
  purchasesMigration,
  peopleMigration,
  importPeopleMigration,
  emailsMigration,
  contentMigration,
  clientRequestsMigration,
  invitesMigration,
  paymentCommandsMigration,
  owedInvoicesMigration,
  correctionsMigration,
  anchorsByStateMigration,
  anchoredBatchesMigration,
  forgettingMigration,
  emailTemplatesMigration,
  suppressedPeopleMigration,
  eventLinksMigration,
  deviceLoginsMigration,
  receiptsFollowedMigration,
  proofOfAddressesMigration,
  rolesMigration,
  logGuardMigration,
  mailsSentOnceMigration,
  emailsInTurnMigration,
  importInSetsMigration,
  refusedRecipientsMigration,
  consentMigration,
  invitesToManyMigration,
  peopleTextsMigration,
  consentFollowsAddressMigration,
  lettersFoldedMigration,
  consentAnsweredAfterImportMigration,
  loginFailuresMigration,
  contentKeysMigration,
  catalogMigration,
  plansAsDataMigration,
  batchLinesInFlightMigration,
  replacedPricesMigration,
  timersMigration,
  booksByBatchMigration,
  laneEpochsMigration,
  receiptsByMonthMigration,
  archiveMigration,
  usageOfRunsMigration,
  signedWhenReadMigration,
  sealedReceiptsMigration,
  receiptNumbersMigration,
  planOfUsageMigration,
  signedInvoicesMigration,
  logTimestampsMigration,
  catalogRevisionKeyMigration,
  absentGatewaysMigration,
  logDeclarationsMigration,
  logTilesMigration,
  packedReceiptsMigration,
  auditOfNewEntriesMigration,
  promisesOfResponsesMigration,
  dedicatedCapacityMigration,
  projectsAndLimitsMigration,
  membersMigration,
  auditRetentionMigration,
  shownSecretsMigration,
  webhooksMigration,
  deploymentsSetAsideMigration,
  alertsOfLimitsMigration,
  managementKeysMigration,
  validatedActorsMigration,
  externalIdsMigration,
  directoryMigration,
  directorySignInMigration,
  mergedWhileSeenMigration,
  streamsSealedAsBytesMigration,
  priceSetsMigration,
  directoryAddressesMigration,
  usageOfGroupsMigration,
  unfreedHoldsMigration,
  passkeysMigration,
  validatedLoginFailuresMigration,
  cachedAnswersMigration,
  auditLogByMonthMigration,
  usageByQuarterHourMigration,
  projectMembersMigration,
  projectsByDirectoryMigration,
  limitsOfRunsMigration,
  usageSegmentsMigration,
];
