import type { FieldError, Problem as ProblemBody, RouteMetadata } from '@tallygate/contract';
import type * as z from 'zod';
import type { Problem } from '../../../kernel/problem.ts';

/** A refusal as it goes over the wire, in our own form. */
export interface ProblemAnswer {
  readonly status: number;
  /** Lower case, content type included. */
  readonly headers: Record<string, string>;
  /** The contract's `Problem`, or its `HTTPValidationError` when `errors` is there. */
  readonly body: ProblemBody & { readonly errors?: FieldError[] };
}

/** The same in any form. */
export interface WrittenRefusal {
  readonly status: number;
  /** Lower case, content type included. */
  readonly headers: Record<string, string>;
  readonly body: object;
}

/**
 * What the answers of another maker's API have in its own form, whichever operation they are of. The operations themselves translate their
 * requests and answers: those that run a model by a dialect of their work (`inference/calls/dialect.ts`), the others in their routes.
 */
export interface SurfaceForm {
  /** Of every answer: what its clients quote. */
  readonly requestIdHeader: string;
  /** Parameters that its clients may add to the address of any operation, with what they may say. */
  query(operation: RouteMetadata): z.ZodObject;
  /** @param document the problem in our own form */
  refusal(problem: Problem, document: ProblemAnswer): WrittenRefusal;
}
