import * as z from 'zod';
import { wholeNumber } from '../conventions.ts';

/** Ids of objects: what is none that we gave is missing, so any text that fits will do. */
export const objectId = (description: string) => z.string().min(1).max(200).meta({ description });

/** The query of OpenAI's cursor lists. */
export const cursorQuery = (order: 'asc' | 'desc') => ({
  after: z.string().max(200).optional().meta({ description: 'Id of the last object of the page before.' }),
  limit: wholeNumber(1, 100).default(20).meta({ description: 'How many at most.' }),
  order: z.enum(['asc', 'desc']).default(order).meta({ description: 'Oldest or newest first.' }),
});

/** What can be asked to be shown beside the usual, in OpenAI's words. What a model of the provider never gives is simply not there. */
export const Includable = z.enum([
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
]);

/** A list parameter as OpenAI’s clients write it: `include[]=a&include[]=b`. */
const texts = z.union([Includable, z.array(Includable).max(20)]).optional();
export const includeQuery = {
  include: texts.meta({ description: 'What to show beside the usual: `reasoning.encrypted_content`.' }),
  'include[]': texts.meta({ description: 'The same, as OpenAI’s clients write it.' }),
};

/** OpenAI's page of objects. */
export const cursorPage = <T extends z.ZodType>(item: T) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().meta({ examples: [''] }),
    last_id: z.string().meta({ description: 'The `after` of the next page; empty where the page is.', examples: [''] }),
    has_more: z.boolean(),
  });

/** At most 16 pairs of at most 64 and 512 characters. */
export const Metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'must have at most 16 pairs')
  .meta({ description: 'At most 16 pairs, of at most 64 and 512 characters.', examples: [{ topic: 'demo' }] });
