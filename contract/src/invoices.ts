import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, Livemode, page, pageQuery, problem, refusals, Timestamp, Usd, Uuid } from './conventions.ts';
import { Month } from './receipt-transfers.ts';
import { ReceiptLog, ReceiptPayload } from './receipts.ts';

const c = initContract();

const Count = z.int().min(0);
const Limit = Count.nullable().meta({ description: 'Null: without limit.', examples: [25_000_000] });
const Nano = (description: string, example = '0') =>
  z
    .string()
    .regex(/^(?:0|-?[1-9]\d{0,29})$/)
    .meta({ description, examples: [example] });
/** Units less those given back; left out when they come to nothing. */
const Units = z.int().optional();

export const InvoiceMonth = z
  .object({
    month: z.string().meta({ description: 'Of the requests, `YYYY-MM`, UTC.', examples: ['2026-11'] }),
    first_number: z
      .int()
      .min(1)
      .meta({ description: '`account_sequence` of the first receipt that is counted.', examples: [1] }),
    last_number: Count.meta({ description: 'Of the last one; one less than the first where there are none.', examples: [4_210] }),
    charges: Count.meta({ description: 'Receipts that settle a request, also one that got no answer.', examples: [4_208] }),
    corrections: Count.meta({ examples: [1] }),
    refunds: Count.meta({ examples: [1] }),
    used_nano_usd: Nano('What the requests cost at catalogue prices, as they were settled.', '30400000000'),
    corrected_nano_usd: Nano('What corrections say more, or less, than the receipts that they correct.', '-204000'),
    refunded_nano_usd: Nano('What was given back.', '384000'),
    cost_nano_usd: Nano('Used and corrected, less refunded.', '30399412000'),
    covered_nano_usd: Nano('The part of the cost that plans’ quotas covered; 0 in test mode.', '25000000000'),
    from_balance_nano_usd: Nano('The part of the cost that the prepaid balance pays.', '5399412000'),
    by_invoice_nano_usd: Nano('The part of the cost that is paid by invoice.'),
    covered: z
      .object({ requests: Units, tokens: Units, images: Units, audio_seconds: Units, video_seconds: Units })
      .meta({ description: 'Units that quotas covered, less those given back.', examples: [{ requests: 4_000, tokens: 25_000_000 }] }),
  })
  .meta({
    id: 'InvoiceMonth',
    description: 'What the receipts of one month come to that are on one invoice, in 10⁻⁹ USD: those from the first to the last number.',
  });

export const InvoicePayload = z
  .object({
    version: z.literal('tallygate-invoice/v1'),
    invoice_id: Uuid,
    nonce: ReceiptPayload.shape.nonce,
    account_hash: ReceiptPayload.shape.account_hash,
    livemode: z.boolean().meta({ examples: [true] }),
    month: z.string().meta({ examples: ['2026-11'] }),
    sequence: z
      .int()
      .min(1)
      .meta({ description: 'The number of the invoice among those of its account and mode, without a gap.', examples: [3] }),
    previous: z
      .string()
      .nullable()
      .meta({ description: 'Digest of the invoice before it, hex; null of the first.', examples: [null] }),
    plans: z
      .array(
        z.object({
          plan: z.string().meta({ examples: ['pro@1'] }),
          quota: z.object({ requests: Limit, tokens: Limit, images: Limit, audio_seconds: Limit, video_seconds: Limit }),
        }),
      )
      .meta({ description: 'The plans that the month’s own receipts name, with what each includes.' }),
    months: z.array(InvoiceMonth).meta({
      description:
        'The month itself, then earlier ones that have got receipts since their invoices: refunds, corrections, and what was settled late.',
    }),
    total_nano_usd: Nano('What balance and invoice pay, of all its months.', '5399412000'),
    from_balance_nano_usd: Nano('The part of the total that the balance has paid.', '5399412000'),
    by_invoice_nano_usd: Nano('The part of the total that is paid by invoice.'),
    carried_before_nano_usd: Nano('What the invoice before it left.'),
    due_nano_usd: Nano('What is to be paid, in whole cents.'),
    carried_nano_usd: Nano('What is left of it for the next invoice.'),
    issued_at: Timestamp,
  })
  .meta({ id: 'InvoicePayload', description: 'What is signed, as canonical JSON (RFC 8785).' });
export type InvoicePayload = z.infer<typeof InvoicePayload>;

export const InvoiceResponse = z
  .object({
    object: z.literal('invoice'),
    id: Uuid,
    payload: InvoicePayload,
    digest: ReceiptPayload.shape.request_sha256.meta({
      description: 'SHA-256 of "tallygate-invoice/v1\\n" and the canonical payload: the entry in the log.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    jws: z.string().meta({
      description:
        'Signature of the service: a compact JWS (RFC 7515, EdDSA) over the canonical payload, which is left out (appendix F), with the `typ` `tallygate-invoice`.',
      examples: [
        'eyJhbGciOiJFZERTQSIsImtpZCI6ImtQcktfcW14VldhWVZBOXd3QkY2SXVvM3ZWeno3VHhIQ1R3WEJ5Z3JTNGsiLCJ0eXAiOiJ0YWxseWdhdGUtaW52b2ljZSJ9..hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
      ],
    }),
    log: ReceiptLog,
  })
  .meta({ id: 'InvoiceResponse', description: 'The bill of a month: what its receipts come to, signed, and an entry of the log.' });
export type InvoiceResponse = z.infer<typeof InvoiceResponse>;

export const InvoiceListItem = z
  .object({
    object: z.literal('invoice.item'),
    id: Uuid,
    month: z.string().meta({ examples: ['2026-11'] }),
    livemode: z.boolean().meta({ examples: [true] }),
    sequence: z.int().meta({ examples: [3] }),
    receipts: z.int().meta({ description: 'How many it counts.', examples: [4_210] }),
    cost_usd: Usd.meta({ description: 'At catalogue prices.', examples: ['30.399412'] }),
    covered_usd: Usd.meta({ description: 'The part of it that the plan covered.', examples: ['25'] }),
    total_usd: Usd.meta({ description: 'The part of it that balance and invoice pay.', examples: ['5.399412'] }),
    due_usd: Usd.meta({ description: 'What is to be paid, in whole cents.', examples: ['0'] }),
    issued_at: Timestamp,
    log_index: z
      .int()
      .nullable()
      .meta({ description: 'Its place in the log; null for the seconds until it has one.', examples: [4_211] }),
  })
  .meta({ id: 'InvoiceListItem', description: 'An invoice in short: `GET /v1/invoices/{month}` has it whole.' });

export const InvoiceList = page(InvoiceListItem).meta({
  id: 'InvoiceList',
  description: 'Invoices of the account, the newest month first.',
});
export type InvoiceList = z.infer<typeof InvoiceList>;

const metadata = { auth: 'bearer', scope: 'account:read', tag: 'Invoices' } as const;

export const invoices = c.router({
  listInvoices: {
    method: 'GET',
    path: '/v1/invoices',
    summary: 'List invoices',
    description:
      'The bills of the account’s months, in one mode, the newest first. Payments and what is charged to a card are in `GET /v1/plans/invoices`.',
    headers: headersA,
    query: z.object({
      livemode: Livemode,
      ...pageQuery,
    }),
    responses: { 200: InvoiceList, ...refusals.read },
    metadata: { ...metadata, operationId: 'listSignedInvoices', sdk: 'invoices.list' } as const,
  },
  getInvoice: {
    method: 'GET',
    path: '/v1/invoices/:month',
    summary: 'Get the invoice of a month',
    description:
      'What the month’s receipts come to: used, corrected, given back, covered by the plan, charged. It is issued in the first hours of the next month, and is an entry of the log. `tallygate invoices verify` checks it offline.',
    headers: headersA,
    pathParams: z.object({ month: Month }),
    query: z.object({ livemode: Livemode }),
    responses: { 200: InvoiceResponse, 404: problem, ...refusals.read },
    metadata: { ...metadata, operationId: 'getSignedInvoice', sdk: 'invoices.get' } as const,
  },
});
