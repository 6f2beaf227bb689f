import type { AccountTable, UserTable } from '../../access/identity/index.ts';
import { tablesOf } from '../../kernel/statements.ts';
import type {
  AutoTopup,
  Checkout,
  Invoice,
  Payment,
  PaymentCommand,
  PaymentDispute,
  PlanTrial,
  PlanVersion,
  ReachedSpendAlert,
  ScheduledDowngrade,
  SpendAlert,
  Subscription,
  UpgradePreview,
  WebhookEvent,
} from './entities.ts';

export const tables = tablesOf<
  | typeof AutoTopup
  | typeof Checkout
  | typeof Invoice
  | typeof Payment
  | typeof PaymentCommand
  | typeof PaymentDispute
  | typeof PlanTrial
  | typeof PlanVersion
  | typeof ReachedSpendAlert
  | typeof ScheduledDowngrade
  | typeof SpendAlert
  | typeof Subscription
  | typeof UpgradePreview
  | typeof WebhookEvent
  | AccountTable
  | UserTable
>();

/** For statements that join them. */
export type CheckoutTable = typeof Checkout;
