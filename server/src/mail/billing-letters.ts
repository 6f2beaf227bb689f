import * as z from 'zod';
import type { Letter } from './letter.ts';
import { readableTime } from './readable-time.ts';

const WHY = 'You get this mail because you belong to the account that it is about.';

export const SpendAlert = z.object({ threshold_usd: z.string(), charged_usd: z.string(), period: z.string() });

export const composeSpendAlert = ({ threshold_usd, charged_usd, period }: z.infer<typeof SpendAlert>, billingUrl: string): Letter => ({
  subject: `Charges of this month have reached $${threshold_usd}`,
  preview: `$${charged_usd} beyond the plan’s quota in ${period}.`,
  paragraphs: [`Usage beyond your plan’s quota has come to $${charged_usd} this month.`, 'Nothing is blocked by this mail.'],
  facts: [
    ['Month', period],
    ['Charged', `$${charged_usd}`],
    ['Threshold', `$${threshold_usd}`],
  ],
  action: { label: 'See usage and billing', url: billingUrl },
  footnote: 'You get this mail because of the spend alerts of your account. Each threshold is mailed at most once a month.',
});

export const PlanChanged = z.object({ from: z.string(), to: z.string() });

export const composePlanChanged = ({ from, to }: z.infer<typeof PlanChanged>, billingUrl: string): Letter => ({
  subject: `Your plan is now ${to}`,
  preview: `It was ${from} until now.`,
  paragraphs: [`The plan of your account has changed from ${from} to ${to}. Its quota and limits are in effect.`],
  action: { label: 'See the plan', url: billingUrl },
  footnote: WHY,
});

export const PaymentLate = z.object({ plan: z.string(), grace_ends_at: z.string() });

export const composePaymentLate = ({ plan, grace_ends_at }: z.infer<typeof PaymentLate>, billingUrl: string): Letter => ({
  subject: 'Your payment was declined',
  preview: `${plan} goes on until ${readableTime(grace_ends_at)}.`,
  paragraphs: [
    `The renewal of ${plan} could not be charged. It is tried again by itself; to be sure, check the card in the customer portal.`,
    `Without a payment the plan ends on ${readableTime(grace_ends_at)}. What is on your balance stays yours.`,
  ],
  action: { label: 'Check the card', url: billingUrl },
  footnote: WHY,
});

export const TopUpDeclined = z.object({ amount_usd: z.string(), decline: z.string() });

export const composeTopUpDeclined = ({ amount_usd, decline }: z.infer<typeof TopUpDeclined>, billingUrl: string): Letter => ({
  subject: 'Your balance could not be topped up',
  preview: `$${amount_usd} were declined.`,
  paragraphs: [
    `The automatic top-up of $${amount_usd} was declined: ${decline}`,
    'Nothing is tried again until you send the settings anew. Usage beyond the plan’s quota ends with the balance.',
  ],
  action: { label: 'Top up, or change the card', url: billingUrl },
  footnote: WHY,
});

export const PaymentDisputed = z.object({ amount_usd: z.string() });

export const composePaymentDisputed = ({ amount_usd }: z.infer<typeof PaymentDisputed>, billingUrl: string): Letter => ({
  subject: 'A payment of yours is disputed',
  preview: `$${amount_usd} are suspended until it is decided.`,
  paragraphs: [
    `Your bank has taken back $${amount_usd}. What was credited for it is suspended until the dispute is decided.`,
    'If you did not mean to dispute it, tell your bank: once the dispute is withdrawn the credit is back.',
  ],
  action: { label: 'See payments', url: billingUrl },
  footnote: WHY,
});

export const InvoiceIssued = z.object({ number: z.string(), period: z.string(), total_usd: z.string(), due_usd: z.string() });

export const composeInvoiceIssued = (
  { number, period, total_usd, due_usd }: z.infer<typeof InvoiceIssued>,
  billingUrl: string,
): Letter => ({
  subject: `Invoice ${number}`,
  preview: `$${total_usd} for usage beyond the quota in ${period}.`,
  paragraphs: [
    `The invoice of ${period} is there. It comes to $${total_usd}; ${due_usd === '0' ? 'nothing of it is due' : `$${due_usd} are on the next bill of your plan`}.`,
  ],
  facts: [
    ['Month', period],
    ['Total', `$${total_usd}`],
    ['Due', `$${due_usd}`],
  ],
  action: { label: 'See the invoice', url: billingUrl },
  footnote: WHY,
});
