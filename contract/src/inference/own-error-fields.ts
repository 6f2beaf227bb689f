import * as z from 'zod';
import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { BudgetDetail, FieldError } from '../problem.ts';

/**
 * What an error in the form of another API has of our own beside it. @param field an example of one at fault
 */
export const ownErrorFields = (field: string) => ({
  request_id: z.string().meta({ examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
  code: z.enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]]).meta({ description: 'Our own code: its page is at `doc_url`.' }),
  doc_url: z.url().meta({ examples: ['http://127.0.0.1:8787/docs/errors/validation_failed'] }),
  param: z
    .string()
    .nullable()
    .meta({ description: 'The request field at fault, or null.', examples: [field] }),
  errors: z.array(FieldError).optional().meta({ description: 'Every fault found in the input.' }),
  budget: BudgetDetail.optional().meta({ description: 'Present on refusals over money.' }),
});
