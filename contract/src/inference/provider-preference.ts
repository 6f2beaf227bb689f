import * as z from 'zod';

const NAME = z.string().min(1).max(60);
const names = (description: string) =>
  z
    .array(NAME)
    .min(1)
    .max(50)
    .nullable()
    .optional()
    .meta({ description, examples: [['openai', 'azure']] });

const USD = /^\d{1,6}(\.\d{1,6})?$/;
/** USD per million tokens, as a number or a text; exact either way. */
const Usd = z
  .union([z.number(), z.string()])
  .refine((usd) => USD.test(String(usd)), 'must be USD per million tokens such as 0.5: below 1000000, with at most six decimals');

/** Which providers may serve a request, and in which order. Never sent to one. */
export const ProviderPreference = z
  .strictObject({
    order: names('Providers to try first, in this order.'),
    only: names('No other providers are asked.'),
    ignore: names('Providers that are not asked.'),
    allow_fallbacks: z.boolean().nullable().optional().meta({
      description: '`false`: none but those of `order`; without an order the first one alone.',
    }),
    sort: z.enum(['price', 'latency', 'throughput']).nullable().optional().meta({
      description:
        'What is tried first, in place of a share by weight: the cheapest of `model` and `models`, the deployment whose answers begin the soonest, or the one that writes the fastest, as this gateway has measured them.',
    }),
    max_price: z
      .strictObject({ prompt: Usd.nullable().optional(), completion: Usd.nullable().optional() })
      .nullable()
      .optional()
      .meta({
        description: 'The most that a token in and a token out may cost, USD per million. What is dearer is not asked.',
        examples: [{ prompt: 1, completion: 4 }],
      }),
  })
  .meta({
    id: 'ProviderPreference',
    description: 'Which of the gateway’s providers may serve the request, and in which order.',
    examples: [{ only: ['openai', 'azure'], sort: 'latency' }],
  });
export type ProviderPreference = z.infer<typeof ProviderPreference>;

export const providerField = ProviderPreference.nullable().optional().meta({
  description: 'Which providers may serve the request, and in which order. Not sent to them.',
});
