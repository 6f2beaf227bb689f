import * as z from 'zod';

/** Left out when it is zero, so that a count has one spelling. */
const More = z.int().min(1).optional();

export const ReceiptPayment = z
  .object({
    plan: z
      .string()
      .nullable()
      .meta({ description: 'The version of the plan whose quota it drew on; null in test mode.', examples: ['pro@1'] }),
    funding: z.enum(['balance', 'invoice', 'none', 'test']).meta({
      description: 'What pays beyond the quota. `none`: nothing may go beyond it. `test`: nobody pays.',
      examples: ['balance'],
    }),
    covered: z
      .object({ requests: More, tokens: More, images: More, audio_seconds: More, video_seconds: More })
      .meta({ description: 'Units that the quota covered, by meter; those of which it covered none are absent.', examples: [{}] }),
    charged_nano_usd: z
      .string()
      .regex(/^\d+$/)
      .meta({
        description:
          'What the balance or the invoice pays: the cost, less the share that the quota covered of the scarcest meter, rounded up. Of a refund: what they are given back.',
        examples: ['8550'],
      }),
  })
  .meta({
    id: 'ReceiptPayment',
    description: 'Who paid: the plan’s quota, and what pays beyond it.',
    examples: [{ plan: 'pro@1', funding: 'balance', covered: {}, charged_nano_usd: '8550' }],
  });
export type ReceiptPayment = z.infer<typeof ReceiptPayment>;
