import * as z from 'zod';
import { isPlainText, NOT_PLAIN, Timestamp, Usd, Uuid } from './conventions.ts';
import { ReceiptUsage } from './receipt-usage.ts';

export const RequestName = z
  .string()
  .regex(/^[!-~]+$/, 'must be printable characters without spaces')
  .max(128)
  .meta({ description: 'The `X-Request-Id` of the answer.', examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] });

/** It is signed: what a text cannot carry everywhere is not taken. */
export const PublicReason = z.string().trim().min(1).max(500).refine(isPlainText, NOT_PLAIN);

/** More of anything no request has ever used; its cost at any price stays within 64 bits. */
const LARGEST_COUNT = 100_000_000;

const CorrectedUsage = z
  .strictObject(ReceiptUsage.shape)
  .refine((usage) => Object.values(usage).every((count) => count === undefined || count <= LARGEST_COUNT), {
    message: `must be at most ${LARGEST_COUNT} of each`,
  })
  .meta({
    description: 'What was really used, all of it: what is left out was not used. Counted as receipts count.',
    examples: [{ input_tokens: 9, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 6, reasoning_tokens: 0 }],
  });

export const CorrectionRequest = z
  .strictObject({
    request_id: RequestName,
    usage: CorrectedUsage,
    reason: PublicReason.meta({
      description: 'Stands in the correction’s receipt, which is public to anyone who knows its id.',
      examples: ['The provider had counted its answer twice.'],
    }),
  })
  .meta({ id: 'CorrectionRequest', description: 'Which request was settled wrongly, what it really used, and why that is known.' });
export type CorrectionRequest = z.infer<typeof CorrectionRequest>;

export const CorrectionResponse = z
  .object({
    correction_id: Uuid,
    receipt_id: Uuid.meta({ description: 'The correction’s own receipt. It can be read a moment later.' }),
    corrects: Uuid.meta({ description: 'The receipt in whose place it is.' }),
    account_id: Uuid,
    request_id: z.string().meta({ examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    reason: z.string().meta({ examples: ['The provider had counted its answer twice.'] }),
    usage: ReceiptUsage,
    cost_usd: Usd.meta({
      description: 'What that comes to at the prices of the request: every cap counts this now.',
      examples: ['0.00000495'],
    }),
    cost_before_usd: Usd.meta({ examples: ['0.00000855'] }),
    charged_usd: Usd.meta({ description: 'The part of it that the account pays beyond its quota.', examples: ['0.00000495'] }),
    charged_before_usd: Usd.meta({ examples: ['0.00000855'] }),
    corrected_at: Timestamp,
  })
  .meta({ id: 'CorrectionResponse', description: 'A correction as it was decided.' });
export type CorrectionResponse = z.infer<typeof CorrectionResponse>;

export const RequestCorrection = z
  .object({
    receipt_id: Uuid.meta({ description: 'The correction’s own receipt.' }),
    reason: z.string().meta({ examples: ['The provider had counted its answer twice.'] }),
    usage: ReceiptUsage,
    cost_usd: Usd.meta({ examples: ['0.00000495'] }),
    charged_usd: Usd.meta({ examples: ['0.00000495'] }),
    corrected_at: Timestamp,
  })
  .meta({ id: 'RequestCorrection', description: 'What a request really used and cost. It counts in the place of what was settled.' });
export type RequestCorrection = z.infer<typeof RequestCorrection>;
