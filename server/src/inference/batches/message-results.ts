import type { BatchError } from '@tallygate/contract';
import * as z from 'zod';

const Line = z.looseObject({
  custom_id: z.string(),
  response: z
    .looseObject({
      ...{ status_code: z.number(), request_id: z.string(), body: z.looseObject({}) },
      ...{ receipt_id: z.string().optional(), receipt_promise: z.string().optional() },
    })
    .nullable()
    .optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable().optional(),
});

export interface MessageResult {
  readonly custom_id: string;
  /** Not Anthropic's: as of a line of any batch. */
  readonly receipt_id?: string | undefined;
  readonly receipt_promise?: string | undefined;
  readonly result: { readonly type: 'succeeded' | 'errored' | 'canceled' | 'expired'; readonly message?: object; readonly error?: object };
}

const errored = (type: string, message: string): MessageResult['result'] => ({
  type: 'errored',
  error: { type: 'error', error: { type, message }, request_id: null },
});

/** A line of an output or error file as Anthropic's clients read it. */
export function resultOf(line: string): MessageResult {
  const { custom_id, response, error } = Line.parse(JSON.parse(line));
  if (response)
    return {
      ...{ custom_id, receipt_id: response.receipt_id, receipt_promise: response.receipt_promise },
      result: response.status_code === 200 ? { type: 'succeeded', message: response.body } : { type: 'errored', error: response.body },
    };
  if (error?.code === 'batch_cancelled') return { custom_id, result: { type: 'canceled' } };
  if (error?.code === 'batch_expired') return { custom_id, result: { type: 'expired' } };
  return { custom_id, result: errored('api_error', error?.message ?? 'The request was not begun.') };
}

/** A line of the input of a batch that was not begun, over some of its lines or all. */
export function unbegunResultOf(line: string, errors: readonly BatchError[]): MessageResult {
  const { custom_id } = Line.parse(JSON.parse(line));
  const [first] = errors;
  const why = first === undefined ? '' : `: ${first.line === null ? '' : `request ${first.line}, `}${first.message}`;
  return { custom_id, result: errored('invalid_request_error', `The batch was not begun${why}`) };
}
