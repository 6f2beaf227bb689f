import * as z from 'zod';
import { userField } from './model-fields.ts';

export const VideoRequest = z
  .looseObject({
    model: z
      .string()
      .min(1)
      .max(200)
      .default('sora-2')
      .meta({ description: 'A video model of the catalogue.', examples: ['sora-2'] }),
    prompt: z
      .string()
      .min(1)
      .max(32_000)
      .meta({ examples: ['A ledger turning its own pages'] }),
    seconds: z
      .union([z.string().regex(/^\d{1,3}$/), z.int().min(1).max(999).transform(String)], 'must be seconds such as "4"')
      .optional()
      .meta({ description: 'Length. Default: `"4"`.', examples: ['4'] }),
    size: z
      .string()
      .regex(/^\d{2,5}x\d{2,5}$/, 'must be a size such as "720x1280"')
      .optional()
      .meta({ examples: ['720x1280'] }),
    user: userField,
  })
  .meta({
    id: 'VideoRequest',
    description: 'OpenAI’s video request: JSON, or a form with `input_reference` as a file.',
    examples: [{ model: 'sora-2', prompt: 'A ledger turning its own pages', seconds: '4' }],
  });
export type VideoRequest = z.infer<typeof VideoRequest>;
