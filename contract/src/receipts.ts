import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { ReceiptAnchor } from './anchors.ts';
import { headersA, Livemode, PrintableName, page, pageQuery, problem, refusals, Timestamp, Usd, Uuid, wholeNumber } from './conventions.ts';
import { LogConsistencyResponse, LogDeclarations, LoggedPrice, LogHash, PriceEntry } from './log-declarations.ts';
import { REQUEST_FILTERS } from './receipt-filters.ts';
import { ReceiptPayment } from './receipt-payment.ts';
import { Month } from './receipt-transfers.ts';
import { ReceiptUsage } from './receipt-usage.ts';
import { VaasKeySet } from './vaas-keys.ts';

const c = initContract();

const Sha256Hex = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256, lower-case hex.', examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] });
const IntegerString = z
  .string()
  .regex(/^\d+$/)
  .meta({ examples: ['12900'] });

export const ClientSignature = z
  .object({
    alg: z.literal('ed25519'),
    public_key: z.string().meta({
      description: 'The key that was registered on the API key: 32 bytes, base64url.',
      examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
    }),
    signature_input: z.string().meta({
      description: 'What was covered, with parameters: the value of `@signature-params` (RFC 9421, section 2.3).',
      examples: ['("@method" "@path" "content-digest");created=1795248000;nonce="b3k2Z1"'],
    }),
    signature: z.string().meta({
      description: 'Ed25519 signature over the signature base, 64 bytes, base64url.',
      examples: ['hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg'],
    }),
    content_digest: z.string().meta({
      description: '`Content-Digest` of the request as sent (RFC 9530). Its sha-256 is `request_sha256`.',
      examples: ['sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:'],
    }),
  })
  .meta({ id: 'ClientSignature', description: 'The caller’s own signature of the request, as it was verified.' });
export type ClientSignature = z.infer<typeof ClientSignature>;

export const ReceiptPayload = z
  .object({
    version: z.literal('tallygate-receipt/v1'),
    kind: z.enum(['usage', 'batch_line', 'media_job', 'refund', 'correction']).meta({
      description:
        'What was settled: an answered request, a line of a batch, a media job. `refund`: money given back. `correction`: takes the place of an earlier receipt.',
      examples: ['usage'],
    }),
    receipt_id: Uuid,
    nonce: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .meta({
        description: '16 random bytes, hex: makes the leaf hash unguessable and salts the hashes below.',
        examples: ['5f2c9a0d4b7e1836a5c0d9e2f4718b63'],
      }),
    request_id: z.string().meta({ examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    account_hash: Sha256Hex.meta({ description: 'SHA-256 of "tallygate-account/v1\\n", the nonce and the account id.' }),
    key_hash: Sha256Hex.nullable().meta({ description: 'SHA-256 of "tallygate-key/v1\\n", the nonce and the key id; null for a session.' }),
    project_hash: Sha256Hex.optional().meta({
      description: 'SHA-256 of "tallygate-project/v1\\n", the nonce and the project id; absent without a project.',
    }),
    end_user_hash: Sha256Hex.optional().meta({
      description: 'SHA-256 of "tallygate-end-user/v1\\n", the nonce and the end user as the request named them; absent without one.',
    }),
    tag_hashes: z.array(Sha256Hex).optional().meta({
      description: 'SHA-256 of "tallygate-tag/v1\\n", the nonce and the tag, of each tag, sorted; absent without tags.',
    }),
    livemode: z.boolean().meta({ examples: [true] }),
    account_sequence: z
      .int()
      .min(1)
      .meta({
        description:
          'The number of the receipt among those of its account, mode and month (UTC, of the request): 1, 2, 3, …, without a gap.',
        examples: [57],
      }),
    endpoint: z.string().meta({ examples: ['/v1/chat/completions'] }),
    run_id: z
      .string()
      .nullable()
      .meta({ description: 'The agent run as the caller named it (`X-Agent-Run-Id`), or null.', examples: ['nightly-42'] }),
    model_requested: z.string().meta({ examples: ['gpt-4o-mini'] }),
    model_served: z.string().meta({ examples: ['gpt-4o-mini'] }),
    provider: z.string().meta({ examples: ['openai'] }),
    fallback: z.enum(['none', 'deployment', 'model']),
    outcome: z.enum(['completed', 'cancelled', 'abandoned', 'cut', 'failed', 'cached', 'refunded']).meta({
      description:
        '`cancelled`: the client hung up, or the agent run ended. `abandoned`: the gateway stopped, or gave up waiting, while the provider was at work. `cut`: the provider broke off after the first byte, or failed and said what it had used. `failed`: no answer, nothing charged. `cached`: an answer that was kept; no model was run, and nothing is charged. `refunded`: of a refund, and of nothing else.',
      examples: ['completed'],
    }),
    request_sha256: Sha256Hex.meta({ description: 'Of the request body as received.' }),
    response_sha256: Sha256Hex.meta({ description: 'Of the response body as sent; of a stream, up to its last settled event.' }),
    usage: ReceiptUsage,
    estimated: z.boolean().meta({
      description:
        'The provider reported no usage: the counts are ours, or the most that the request could use, which is what was held for it.',
    }),
    price_version: z.string().meta({ examples: ['2026-07-24'] }),
    price_entry: PriceEntry.nullable().meta({
      description: 'The entry of the log that declares the price, made before it was charged; null where nothing has a price.',
    }),
    price_tier_above_input_tokens: z
      .int()
      .nullable()
      .meta({ description: 'The long-context tier that was applied, or null.', examples: [null] }),
    unit_prices_pico_usd: z.record(z.string(), IntegerString).meta({
      description: 'Price per single unit in 10⁻¹² USD, by meter, as published.',
      examples: [{ input_tokens: '150000', output_tokens: '600000' }],
    }),
    price_factor: z
      .string()
      .regex(/^(?:0|[1-9]\d{0,3})(?:\.\d{0,17}[1-9])?$/)
      .meta({ description: 'On all unit prices: "1", or the published batch factor.', examples: ['1'] }),
    waived_nano_usd: IntegerString.optional().meta({
      description:
        'What was not charged: what the provider billed beyond what was held, and what no longer fitted a cap when the request was settled late. Together with the cost it is usage × unit prices. Absent where nothing was waived.',
      examples: ['1200'],
    }),
    cost_nano_usd: IntegerString.meta({
      description: 'Sum of units × price, times the factor, rounded up once, in 10⁻⁹ USD. Of a refund: what is given back, at most that.',
      examples: ['8550'],
    }),
    payment: ReceiptPayment,
    refund_of: Uuid.nullable().meta({
      description: 'The receipt whose cost is given back, or that is corrected; null otherwise.',
      examples: [null],
    }),
    refund_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why; null where `refund_of` is.', examples: [null] }),
    started_at: Timestamp,
    completed_at: Timestamp,
    client_signature: ClientSignature.nullable().meta({
      description: 'The caller’s own signature (RFC 9421); null where the request carried none.',
    }),
  })
  .meta({ id: 'ReceiptPayload', description: 'What is signed, as canonical JSON (RFC 8785).' });
export type ReceiptPayload = z.infer<typeof ReceiptPayload>;

export const ReceiptLog = z
  .discriminatedUnion('state', [
    z.object({ state: z.literal('pending') }).meta({ description: 'For the seconds until the log takes the receipt in.' }),
    z
      .object({
        state: z.literal('logged'),
        index: z
          .int()
          .min(0)
          .meta({ description: 'Position of the entry, from 0.', examples: [41] }),
        tree_size: z
          .int()
          .min(1)
          .meta({ description: 'Entries of the log in the state that the proof is against.', examples: [42] }),
        inclusion_path: z.array(LogHash).meta({ description: 'Hashes from the leaf upwards (RFC 9162, section 2.1.3).' }),
        checkpoint: z.string().meta({
          description: 'That state as the log signed it, and witnesses with it: a signed note (c2sp.org/tlog-checkpoint).',
          examples: ['tallygate/receipts/5f2c…\n42\n…'],
        }),
      })
      .meta({ description: 'The receipt is in the log.' }),
  ])
  .meta({ id: 'ReceiptLog', description: 'Where the receipt is in the log, with the proof of it.', examples: [{ state: 'pending' }] });
export type ReceiptLog = z.infer<typeof ReceiptLog>;

export const ReceiptResponse = z
  .object({
    object: z.literal('receipt'),
    id: Uuid,
    payload: ReceiptPayload,
    digest: Sha256Hex.meta({ description: 'SHA-256 of "tallygate-receipt/v1\\n" and the canonical payload: the entry in the log.' }),
    jws: z.string().meta({
      description:
        'Signature of the service: a compact JWS (RFC 7515, EdDSA) over the canonical payload, which is left out (appendix F). Its `kid` is in `/.well-known/vaas-keys.json`. It is made when the receipt is read.',
      examples: [
        'eyJhbGciOiJFZERTQSIsImtpZCI6ImtQcktfcW14VldhWVZBOXd3QkY2SXVvM3ZWeno3VHhIQ1R3WEJ5Z3JTNGsiLCJ0eXAiOiJ0YWxseWdhdGUtcmVjZWlwdCJ9..hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
      ],
    }),
    log: ReceiptLog,
    price: LoggedPrice.nullable().meta({
      description:
        'The entry of the log that declares the price, with its proof against the same state; null while the receipt is not in the log, where it has no price, and in an export where an earlier receipt has it.',
    }),
    anchor: ReceiptAnchor.nullable().meta({
      description: 'The anchor on a public chain, the one that is furthest along; null where this service anchors nowhere.',
    }),
  })
  .meta({ id: 'ReceiptResponse', description: 'A signed receipt: with the public key, everything needed to verify it offline.' });
export type ReceiptResponse = z.infer<typeof ReceiptResponse>;

export const ReceiptListItem = z
  .object({
    object: z.literal('receipt.item'),
    id: Uuid,
    kind: ReceiptPayload.shape.kind,
    request_id: ReceiptPayload.shape.request_id,
    endpoint: ReceiptPayload.shape.endpoint,
    model: z.string().meta({ description: 'The model that answered.', examples: ['gpt-4o-mini'] }),
    run_id: ReceiptPayload.shape.run_id,
    livemode: z.boolean().meta({ examples: [true] }),
    outcome: ReceiptPayload.shape.outcome,
    cost_usd: Usd.meta({ description: 'What it cost at catalogue prices; of a refund, what is given back.', examples: ['0.00000855'] }),
    refund_of: ReceiptPayload.shape.refund_of,
    started_at: Timestamp,
    completed_at: Timestamp,
    log_index: z
      .int()
      .nullable()
      .meta({ description: 'Its place in the log; null for the seconds until it has one.', examples: [41] }),
  })
  .meta({ id: 'ReceiptListItem', description: 'A receipt in short: `GET /v1/receipts/{id}` has it whole.' });
export type ReceiptListItem = z.infer<typeof ReceiptListItem>;

export const ReceiptList = page(ReceiptListItem).meta({
  id: 'ReceiptList',
  description: 'Receipts of the account, the newest request first.',
});
export type ReceiptList = z.infer<typeof ReceiptList>;

const note = (description: string, example: string) =>
  c.otherResponse({ contentType: 'text/plain', body: z.string().meta({ description, examples: [example] }) });
const LogSize = wholeNumber(0);

export const receipts = c.router({
  listReceipts: {
    method: 'GET',
    path: '/v1/receipts',
    summary: 'List receipts',
    description: 'Receipts of the account, in one mode, the newest request first; with `logged_after` in the order of the log.',
    headers: headersA,
    query: z.object({
      month: Month.optional(),
      kind: ReceiptPayload.shape.kind.optional().meta({ description: 'Only receipts of this kind.' }),
      model: PrintableName.max(200).optional().meta({ description: 'Only of requests that this model answered.' }),
      run_id: PrintableName.max(128).optional().meta({ description: 'Only of requests of this agent run.' }),
      key_id: z.uuid().optional().meta({ description: 'Only of requests of this API key.' }),
      outcome: ReceiptPayload.shape.outcome
        .optional()
        .meta({ description: 'Only of requests that ended so; `refunded`: receipts of refunds.' }),
      ...REQUEST_FILTERS,
      livemode: Livemode,
      logged_after: wholeNumber(-1).optional().meta({
        description:
          'Only receipts that are in the log after this entry, in the order of the log: begin with the size of the checkpoint less one, go on with the `log_index` of the last. A receipt is in the log seconds after its answer.',
      }),
      ...pageQuery,
    }),
    responses: { 200: ReceiptList, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'account:read',
      tag: 'Receipts',
      operationId: 'listReceipts',
      sdk: 'receipts.list',
      errors: { also: ['plan_required'] },
    } as const,
  },
  getReceipt: {
    method: 'GET',
    path: '/v1/receipts/:receipt_id',
    summary: 'Get a receipt',
    description:
      'Public: anyone who knows the id (the `X-Receipt-Id` of an answer) may read the receipt. It names neither the account nor any content. A receipt exists a moment after its answer; until then this is a 404.',
    pathParams: z.object({ receipt_id: Uuid.meta({ description: 'The `X-Receipt-Id` of an answer.' }) }),
    responses: { 200: ReceiptResponse, 404: problem, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getReceipt', sdk: 'receipts.get', tool: 'read' } as const,
  },
  getReceiptProof: {
    method: 'GET',
    path: '/v1/receipts/:receipt_id/proof',
    summary: 'Proof that a receipt is in the log',
    description:
      'Public. A `.tlog-proof` file (c2sp.org/tlog-proof): with the keys of `/.well-known/vaas-keys.json`, it shows that the receipt is in the log. A receipt is there seconds after its answer; until then this is a 404.',
    pathParams: z.object({ receipt_id: Uuid.meta({ description: 'The `X-Receipt-Id` of an answer.' }) }),
    responses: {
      200: note('The file.', 'c2sp.org/tlog-proof@v1\nindex 0\n\n…'),
      404: problem,
      ...refusals.openInput,
    },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getReceiptProof', tool: 'read' } as const,
  },
  getCheckpoint: {
    method: 'GET',
    path: '/v1/log/checkpoint',
    summary: 'The newest state of the log',
    description: 'Public. A signed note (c2sp.org/tlog-checkpoint): name, size and root.',
    query: z.object({
      witnesses: wholeNumber(0, 100).optional().meta({ description: 'Cosigned by so many witnesses.' }),
    }),
    responses: { 200: note('The note.', 'tallygate/receipts/5f2c…\n42\n…'), 404: problem, ...refusals.openRead },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getLogCheckpoint', tool: 'read' } as const,
  },
  getConsistency: {
    method: 'GET',
    path: '/v1/log/consistency',
    summary: 'Proof that the log only grew',
    description: 'Public. With the roots of an older and a newer checkpoint, the path shows that nothing was rewritten.',
    query: z.object({
      from: LogSize.meta({ description: 'Size of the older checkpoint.', examples: [4] }),
      to: LogSize.meta({ description: 'Size of the newer one.', examples: [7] }),
    }),
    responses: { 200: LogConsistencyResponse, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getLogConsistency', sdk: 'receipts.consistency', tool: 'read' } as const,
  },
  listDeclarations: {
    method: 'GET',
    path: '/v1/log/declarations',
    summary: 'List the prices, keys and rules in the log',
    description:
      'Public. Each price version, each key and each change of the rules of the log is an entry of the log before it is used. In the order of the log, each with its proof against the newest state.',
    query: z.object({
      kind: z.enum(['price', 'key', 'key_retired', 'policy']).optional().meta({ description: 'Only declarations of this kind.' }),
      ...pageQuery,
    }),
    responses: { 200: LogDeclarations, 404: problem, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'listLogDeclarations', sdk: 'receipts.declarations' } as const,
  },
  getKeys: {
    method: 'GET',
    path: '/.well-known/vaas-keys.json',
    summary: 'Public keys that sign receipts and their log',
    description: 'Keep a copy: with it, receipts verify without this service.',
    responses: { 200: VaasKeySet, ...refusals.openRead },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getVaasKeys', sdk: 'receipts.keys', tool: 'read' } as const,
  },
});
