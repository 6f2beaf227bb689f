import type { BudgetDetail, ErrorCode, FieldError } from '@tallygate/contract';
// By itself, so that a thread that only throws does not load every schema of the contract.
import { ERRORS } from '@tallygate/contract/errors';

interface ProblemExtras {
  /** What we know and do not say: logged, never sent. */
  because?: string;
  /** Which request field is at fault, in OpenAI's notation (`messages[0].role`). */
  param?: string;
  /** Every fault found in the input. */
  errors?: FieldError[];
  /** What a provider said that refused the request: its status, and its error in OpenAI's form. */
  upstream?: { readonly status: number; readonly code: string | null; readonly type: string | null };
  /** The numbers behind a refusal over money. */
  budget?: BudgetDetail;
  /** Seconds after which the same request may go through. */
  retryAfterSeconds?: number;
  /** Further response headers that belong to this refusal. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A request that cannot be served, for a reason the caller can act on. Thrown anywhere, turned into RFC 9457 at the edge. */
export class Problem extends Error {
  readonly code: ErrorCode;
  /** Where OpenAI or another maker has an operation, it may be answered with another one. */
  readonly status: number;
  readonly extras: ProblemExtras;

  /** @param detail one sentence that says what to do */
  constructor(code: ErrorCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, { cause: extras.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = ERRORS[code].status;
    this.extras = extras;
  }
}
