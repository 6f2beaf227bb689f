import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { page, pageQuery, problem, refusals, Timestamp, Usd, Uuid, wholeNumber } from './conventions.ts';

const c = initContract();

const bytes = (length: number, description: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-f]{${length * 2}}$`))
    .meta({ description, examples: [`0x${'5f2c9a0d4b7e1836a5c0d9e2f4718b63c74f20a3e1b86d95f0a7c2d4e6b81930'.slice(0, length * 2)}`] });

const ChainId = z
  .int()
  .min(1)
  .meta({ description: 'Number of the chain (EIP-155).', examples: [8453] });
const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ description: 'Address of the contract on that chain.', examples: ['0x5FbDB2315678afecb367f032d93F642f64180aa3'] });
const TreeSize = z
  .int()
  .min(1)
  .meta({ description: 'How many entries the log had.', examples: [42] });
const Root = bytes(32, 'Root over these entries (RFC 9162, SHA-256), as the contract holds it.');
const TransactionHash = bytes(32, 'The transaction that brought it there.');
const BlockNumber = z
  .int()
  .min(0)
  .meta({ description: 'The block in which that transaction stands.', examples: [21_500_000] });
const CoinAmount = z
  .string()
  .regex(/^\d+(\.\d{1,18})?$/)
  .meta({ description: 'Decimal string, in the coin of the chain.', examples: ['0.0000043'] });

export const AnchorState = z.enum(['logged', 'submitted', 'included', 'finalized', 'superseded']).meta({
  id: 'AnchorState',
  description:
    '`logged`: meant for the chain, not sent yet. `submitted`: sent. `included`: in a block that the chain may still take back. `finalized`: in one that it will not. `superseded`: never got there, because a later state of the log did.',
});
export type AnchorState = z.infer<typeof AnchorState>;

export const AnchorResponse = z
  .object({
    object: z.literal('anchor'),
    id: Uuid,
    state: AnchorState,
    chain_id: ChainId,
    contract: Address,
    tree_size: TreeSize,
    root: Root,
    previous_size: z
      .int()
      .min(0)
      .meta({
        description:
          'Size of the state that the contract held before; 0 for its first. The contract itself has checked that this one begins with it; `GET /v1/log/consistency` shows how.',
        examples: [17],
      }),
    transaction_hash: TransactionHash.nullable().meta({ description: 'Set once it is in a block.' }),
    block_number: BlockNumber.nullable(),
    block_time: Timestamp.nullable(),
    gas_used: z
      .string()
      .regex(/^\d+$/)
      .nullable()
      .meta({ examples: ['71291'] }),
    fee: CoinAmount.nullable().meta({
      description: 'What the anchor cost, in the coin of the chain, with what a layer 2 charges for data.',
    }),
    fee_usd: Usd.nullable().meta({
      description: 'The same at the price of the coin that the service was told; null where it was told none.',
    }),
    created_at: Timestamp,
    submitted_at: Timestamp.nullable(),
    included_at: Timestamp.nullable().meta({ description: 'When the service saw it in a block.' }),
    finalized_at: Timestamp.nullable(),
  })
  .meta({ id: 'AnchorResponse', description: 'A state of the receipts’ log on a public chain, or on its way there.' });
export type AnchorResponse = z.infer<typeof AnchorResponse>;

export const AnchorListResponse = page(AnchorResponse).meta({
  id: 'AnchorListResponse',
  description: 'Anchors of the log, the newest first.',
});
export type AnchorListResponse = z.infer<typeof AnchorListResponse>;

const timestampFields = {
  id: Uuid,
  authority: z.string().meta({ description: 'Address of the time-stamping authority.', examples: ['https://tsa.example.com/tsr'] }),
  tree_size: TreeSize,
  checkpoint: z.string().meta({
    description:
      'What was stamped: the text of the checkpoint without its signatures (c2sp.org/tlog-checkpoint), whose SHA-256 is in the token.',
    examples: ['gateway.example.com/v1/log\n42\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'],
  }),
  time: Timestamp.meta({ description: 'When, by the authority’s clock.' }),
  token: z
    .string()
    .meta({ description: 'The time-stamp token (RFC 3161, section 2.4.2), DER in base64.', examples: ['MIIEAwYJKoZIhvcN…'] }),
};

export const LogTimestamp = z
  .object({ object: z.literal('log.timestamp'), ...timestampFields })
  .meta({ id: 'LogTimestamp', description: 'A state of the receipts’ log that a time-stamping authority has signed with the time.' });
export type LogTimestamp = z.infer<typeof LogTimestamp>;

export const LogTimestampList = page(LogTimestamp).meta({
  id: 'LogTimestampList',
  description: 'Timestamps of the log, the newest first.',
});
export type LogTimestampList = z.infer<typeof LogTimestampList>;

export const ReceiptTimestamp = z
  .object({
    object: z.literal('receipt.timestamp'),
    ...timestampFields,
    index: z
      .int()
      .min(0)
      .meta({ description: 'Place of the receipt in the log, from 0.', examples: [7] }),
    path: z.array(z.string()).meta({
      description: 'Inclusion path of the receipt in that state (RFC 9162, section 2.1.3), base64.',
      examples: [['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=']],
    }),
  })
  .meta({ id: 'ReceiptTimestamp', description: 'All that shows offline, beside the receipt, that it existed at a time.' });
export type ReceiptTimestamp = z.infer<typeof ReceiptTimestamp>;

const PendingAnchor = z.object({
  state: z.literal('pending').meta({ description: 'No state of the log with this receipt in it has been sent to a chain yet.' }),
});

const MadeAnchor = z.object({
  state: z.enum(['submitted', 'included', 'finalized']),
  id: Uuid.meta({ description: 'For `GET /v1/anchors/{anchor_id}`.' }),
  chain_id: ChainId,
  contract: Address,
  tree_size: TreeSize,
  root: Root,
  transaction_hash: TransactionHash.nullable().meta({ description: 'Null while it is in no block.' }),
  block_number: BlockNumber.nullable(),
  block_time: Timestamp.nullable(),
  index: z
    .int()
    .min(0)
    .meta({ description: 'Place of the receipt in the log, from 0.', examples: [7] }),
  path: z.array(bytes(32, 'One hash of the path.')).meta({
    description:
      'Inclusion path of the receipt in the log of `tree_size` entries (RFC 9162, section 2.1.3), as the contract’s `isIncluded` takes it.',
  }),
});

export const ReceiptAnchor = z.discriminatedUnion('state', [PendingAnchor, MadeAnchor]).meta({
  id: 'ReceiptAnchor',
  description: 'Where on a public chain the receipt can be found: the state of the log that holds it, and its place in there.',
  examples: [{ state: 'pending' }],
});
export type ReceiptAnchor = z.infer<typeof ReceiptAnchor>;

export const anchors = c.router({
  listAnchors: {
    method: 'GET',
    path: '/v1/anchors',
    summary: 'List anchors of the log',
    description: 'Public. The states of the receipts’ log that are on public chains, or on their way there, the newest first.',
    query: z.object({
      chain_id: wholeNumber(1).optional().meta({ description: 'Only those of this chain.' }),
      state: AnchorState.optional().meta({ description: 'Only those in this state.' }),
      ...pageQuery,
    }),
    responses: { 200: AnchorListResponse, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'listAnchors', sdk: 'anchors.list' } as const,
  },
  getAnchor: {
    method: 'GET',
    path: '/v1/anchors/:anchor_id',
    summary: 'Get an anchor of the log',
    description: 'Public.',
    pathParams: z.object({ anchor_id: Uuid.meta({ description: 'Id of the anchor.' }) }),
    responses: { 200: AnchorResponse, 404: problem, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getAnchor', sdk: 'anchors.get' } as const,
  },
  listTimestamps: {
    method: 'GET',
    path: '/v1/log/timestamps',
    summary: 'List timestamps of the log',
    description: 'Public. The states of the receipts’ log that time-stamping authorities have signed (RFC 3161), the newest first.',
    query: z.object(pageQuery),
    responses: { 200: LogTimestampList, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'listLogTimestamps', sdk: 'anchors.timestamps' } as const,
  },
  getReceiptTimestamp: {
    method: 'GET',
    path: '/v1/receipts/:receipt_id/timestamp',
    summary: 'Get the timestamp of a receipt',
    description:
      'Public. The first timestamp of a state of the log that has the receipt, with the receipt’s place in it: kept beside the receipt, it shows offline since when the receipt exists. A 404 until such a state was stamped.',
    pathParams: z.object({ receipt_id: Uuid.meta({ description: 'The `X-Receipt-Id` of an answer.' }) }),
    responses: { 200: ReceiptTimestamp, 404: problem, ...refusals.openInput },
    metadata: { auth: 'none', tag: 'Receipts', operationId: 'getReceiptTimestamp', sdk: 'anchors.timestampOf' } as const,
  },
});
