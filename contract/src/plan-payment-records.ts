import * as z from 'zod';
import { isPlainText, NOT_PLAIN, page, Timestamp, Usd, UsdInput, Uuid } from './conventions.ts';
import { PlanId, PlanLivemode } from './plan-records.ts';

const ReturnUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .refine(isPlainText, NOT_PLAIN)
  .optional()
  .meta({ description: 'The return URL of the browser. Default: a page of this server.', examples: ['https://app.example/billing'] });
const CheckoutStatus = z.enum(['open', 'completed', 'expired']).meta({ description: 'Of the hosted page.', examples: ['open'] });
const CheckoutUrl = z
  .url()
  .nullable()
  .meta({
    description: 'Send the browser there; null once the page is not open.',
    examples: ['https://checkout.stripe.com/c/pay/cs_test_1'],
  });

export const PlanCheckoutRequest = z
  .strictObject({
    plan_id: PlanId,
    success_url: ReturnUrl,
    cancel_url: ReturnUrl,
    prorated_at: Timestamp.optional().meta({
      description: '`effective_at` of an upgrade preview of this plan, at most ten minutes old: exactly its amount is charged.',
    }),
  })
  .meta({ id: 'PlanCheckoutRequest', description: 'The plan to have from now on.', examples: [{ plan_id: 'pro' }] });
export type PlanCheckoutRequest = z.infer<typeof PlanCheckoutRequest>;

const CHECKOUT = {
  checkout_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  status: 'open',
  checkout_url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  amount_usd: '20',
  expires_at: '2026-11-22T08:00:00.000Z',
  livemode: true,
};
const checkoutFields = {
  checkout_id: Uuid,
  status: CheckoutStatus,
  checkout_url: CheckoutUrl,
  amount_usd: Usd.meta({ description: 'What is paid there, USD.' }),
  expires_at: Timestamp.nullable().meta({ description: 'Until when it can be paid; null where nothing is open.' }),
  livemode: PlanLivemode,
};

export const PlanCheckoutResponse = z.object({ ...checkoutFields, plan_id: PlanId }).meta({
  id: 'PlanCheckoutResponse',
  description:
    '`open`: pay on the hosted page. `completed`: a plan that is paid for already was changed at once, and the difference charged to the card on file.',
  examples: [{ ...CHECKOUT, plan_id: 'pro' }],
});
export type PlanCheckoutResponse = z.infer<typeof PlanCheckoutResponse>;

export const PlanBalanceCheckoutRequest = z
  .strictObject({
    amount_usd: UsdInput.meta({ description: 'Whole cents, from $1 to $10,000.', examples: ['25'] }),
    save_card: z
      .boolean()
      .default(false)
      .meta({ description: 'Keep the card for automatic top-ups.', examples: [false] }),
    success_url: ReturnUrl,
    cancel_url: ReturnUrl,
  })
  .meta({ id: 'PlanBalanceCheckoutRequest', description: 'What to pay into the balance.', examples: [{ amount_usd: '25' }] });
export type PlanBalanceCheckoutRequest = z.infer<typeof PlanBalanceCheckoutRequest>;

export const PlanBalanceCheckoutResponse = z
  .object(checkoutFields)
  .meta({ id: 'PlanBalanceCheckoutResponse', description: 'The page on which to pay.', examples: [{ ...CHECKOUT, amount_usd: '25' }] });
export type PlanBalanceCheckoutResponse = z.infer<typeof PlanBalanceCheckoutResponse>;

export const PlanCheckoutState = z
  .object({
    ...checkoutFields,
    kind: z
      .enum(['plan', 'balance', 'purchase'])
      .meta({ description: 'What is paid for; `purchase`: something else, such as a place at an event.', examples: ['plan'] }),
    plan_id: PlanId.nullable(),
  })
  .meta({ id: 'PlanCheckoutState', description: 'The state of a checkout.', examples: [{ ...CHECKOUT, kind: 'plan', plan_id: 'pro' }] });
export type PlanCheckoutState = z.infer<typeof PlanCheckoutState>;

export const PlanPortalRequest = z
  .strictObject({ return_url: ReturnUrl })
  .meta({ id: 'PlanPortalRequest', description: 'Where to come back to.', examples: [{ return_url: 'https://app.example/billing' }] });
export type PlanPortalRequest = z.infer<typeof PlanPortalRequest>;

export const PlanPortalResponse = z
  .object({ url: z.url().meta({ description: 'Good for minutes.', examples: ['https://billing.stripe.com/p/session/1'] }) })
  .meta({ id: 'PlanPortalResponse', description: 'The payment provider’s page of the customer.' });
export type PlanPortalResponse = z.infer<typeof PlanPortalResponse>;

export const PlanInvoiceLine = z
  .object({
    description: z.string().meta({ examples: ['gpt-5.4-nano'] }),
    quantity: z
      .int()
      .nullable()
      .meta({ description: 'Requests, of usage; null elsewhere.', examples: [42] }),
    amount_usd: Usd,
  })
  .meta({
    id: 'PlanInvoiceLine',
    description: 'One line of an invoice.',
    examples: [{ description: 'gpt-5.4-nano', quantity: 42, amount_usd: '0.00405' }],
  });
export type PlanInvoiceLine = z.infer<typeof PlanInvoiceLine>;

const INVOICE = {
  invoice_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  number: 'TG-2026-11-55ee77',
  kind: 'usage',
  status: 'paid',
  period: '2026-11',
  total_usd: '0.00405',
  from_balance_usd: '0.00405',
  due_usd: '0',
  carried_usd: '0',
  issued_at: '2026-12-01T01:00:00.000Z',
  hosted_url: null,
  livemode: true,
};
const invoiceFields = {
  invoice_id: Uuid,
  number: z
    .string()
    .nullable()
    .meta({ description: 'As it is printed.', examples: [INVOICE.number] }),
  kind: z
    .enum(['usage', 'subscription'])
    .meta({ description: '`usage`: a month beyond the quota. `subscription`: of the payment provider.' }),
  status: z.enum(['open', 'paid', 'void', 'uncollectible']).meta({ examples: ['paid'] }),
  period: z.string().meta({ description: 'The month (UTC) it is for, `YYYY-MM`.', examples: ['2026-11'] }),
  total_usd: Usd.meta({ description: 'The sum of its lines; of usage, the receipts of the month less what the plan included of them.' }),
  from_balance_usd: Usd.meta({ description: 'The part of the total that the balance had paid as it was used.' }),
  due_usd: Usd.meta({ description: 'What is billed for it, in whole cents.' }),
  carried_usd: Usd.meta({ description: 'Less than a cent that goes to the next invoice.' }),
  issued_at: Timestamp,
  hosted_url: z
    .url()
    .nullable()
    .meta({ description: 'The payment provider’s page of it.', examples: [null] }),
  livemode: PlanLivemode,
};

export const PlanInvoiceSummary = z
  .object(invoiceFields)
  .meta({ id: 'PlanInvoiceSummary', description: 'An invoice without its lines.', examples: [INVOICE] });
export type PlanInvoiceSummary = z.infer<typeof PlanInvoiceSummary>;
export const PlanInvoiceResponse = z.object({ ...invoiceFields, lines: z.array(PlanInvoiceLine) }).meta({
  id: 'PlanInvoiceResponse',
  description: 'An invoice.',
  examples: [{ ...INVOICE, lines: [{ description: 'gpt-5.4-nano', quantity: 42, amount_usd: '0.00405' }] }],
});
export type PlanInvoiceResponse = z.infer<typeof PlanInvoiceResponse>;
export const PlanInvoiceListResponse = page(PlanInvoiceSummary).meta({
  id: 'PlanInvoiceListResponse',
  description: 'Invoices, newest first.',
});
export type PlanInvoiceListResponse = z.infer<typeof PlanInvoiceListResponse>;

const PAYMENT = {
  payment_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  kind: 'balance',
  status: 'succeeded',
  amount_usd: '25',
  refunded_usd: '0',
  disputed_usd: '0',
  created_at: '2026-11-21T08:00:00.000Z',
  livemode: true,
};
export const PlanPayment = z
  .object({
    payment_id: Uuid,
    kind: z.enum(['balance', 'auto_topup', 'subscription', 'purchase']).meta({ description: 'What it was for.', examples: ['balance'] }),
    status: z.enum(['pending', 'succeeded', 'failed', 'canceled']).meta({ examples: ['succeeded'] }),
    amount_usd: Usd,
    refunded_usd: Usd.meta({ description: 'Returned to where it came from.' }),
    disputed_usd: Usd.meta({ description: 'Taken back by the customer’s bank, temporarily or permanently.' }),
    created_at: Timestamp,
    livemode: PlanLivemode,
  })
  .meta({ id: 'PlanPayment', description: 'One payment.', examples: [PAYMENT] });
export type PlanPayment = z.infer<typeof PlanPayment>;
export const PlanPaymentListResponse = page(PlanPayment).meta({ id: 'PlanPaymentListResponse', description: 'Payments, newest first.' });
export type PlanPaymentListResponse = z.infer<typeof PlanPaymentListResponse>;

export const PlanPaymentRefundRequest = z
  .strictObject({
    amount_usd: UsdInput.optional().meta({ description: 'Whole cents; all that is left, when left out.', examples: ['5'] }),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'For the audit log.', examples: ['Paid twice'] }),
  })
  .meta({ id: 'PlanPaymentRefundRequest', description: 'What to return, and why.', examples: [{ amount_usd: '5', reason: 'Paid twice' }] });
export type PlanPaymentRefundRequest = z.infer<typeof PlanPaymentRefundRequest>;

export const PlanAutoTopupRequest = z
  .strictObject({
    enabled: z.boolean().meta({ examples: [true] }),
    threshold_usd: UsdInput.meta({ description: 'Charge as soon as the balance is below this.', examples: ['5'] }),
    amount_usd: UsdInput.meta({
      description: 'What to charge: whole cents, from $1 to $10,000, and not less than the threshold.',
      examples: ['25'],
    }),
    daily_maximum_usd: UsdInput.optional().meta({
      description: 'What is charged in 24 hours at most. Default: five times the amount.',
      examples: ['100'],
    }),
  })
  .meta({
    id: 'PlanAutoTopupRequest',
    description: 'When to charge the saved card, and what.',
    examples: [{ enabled: true, threshold_usd: '5', amount_usd: '25' }],
  });
export type PlanAutoTopupRequest = z.infer<typeof PlanAutoTopupRequest>;
export const PlanAutoTopupResponse = z
  .object({
    enabled: z.boolean(),
    threshold_usd: Usd.nullable(),
    amount_usd: Usd.nullable(),
    daily_maximum_usd: Usd.nullable(),
    status: z.enum(['off', 'ready', 'charging', 'limited', 'declined']).meta({
      description:
        '`limited`: another charge would exceed the daily maximum. `declined`: the card was refused; nothing is tried again until the settings are sent anew.',
      examples: ['ready'],
    }),
    decline: z
      .string()
      .nullable()
      .meta({ description: 'Why the card was refused.', examples: [null] }),
    livemode: PlanLivemode,
  })
  .meta({
    id: 'PlanAutoTopupResponse',
    description: 'The settings of automatic top-up.',
    examples: [
      { enabled: true, threshold_usd: '5', amount_usd: '25', daily_maximum_usd: '125', status: 'ready', decline: null, livemode: true },
    ],
  });
export type PlanAutoTopupResponse = z.infer<typeof PlanAutoTopupResponse>;

export const PlanSpendAlertsRequest = z
  .strictObject({
    thresholds_usd: z
      .array(UsdInput.refine((text) => /[1-9]/.test(text), 'must be more than 0'))
      .max(10)
      .meta({ description: 'Charges of a month (UTC) at which to mail; at most ten.', examples: [['10', '50']] }),
  })
  .meta({ id: 'PlanSpendAlertsRequest', description: 'At which charges to mail.', examples: [{ thresholds_usd: ['10', '50'] }] });
export type PlanSpendAlertsRequest = z.infer<typeof PlanSpendAlertsRequest>;
export const PlanSpendAlertsResponse = z
  .object({
    thresholds_usd: z.array(Usd),
    alerts: z.array(z.object({ period: z.string(), threshold_usd: Usd, charged_usd: Usd, created_at: Timestamp })).meta({
      description: 'What was reached, newest first; each threshold once a month.',
    }),
  })
  .meta({
    id: 'PlanSpendAlertsResponse',
    description: 'The thresholds, and those that were reached.',
    examples: [
      {
        thresholds_usd: ['10', '50'],
        alerts: [{ period: '2026-11', threshold_usd: '10', charged_usd: '10.4', created_at: '2026-11-21T08:00:00.000Z' }],
      },
    ],
  });
export type PlanSpendAlertsResponse = z.infer<typeof PlanSpendAlertsResponse>;

export const PaymentWebhookResponse = z
  .object({ received: z.boolean().meta({ examples: [true] }) })
  .meta({ id: 'PaymentWebhookResponse', description: 'The event was taken.' });
