export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/**
 * Google's reason in OpenAI's words. What is neither a natural end nor the bound means that something was withheld: filters, recitation,
 * forbidden terms, and also calls so malformed that Google does not pass them on.
 */
export function finishReasonOf(reason: string, hasCalls: boolean): FinishReason {
  switch (reason) {
    case 'STOP':
    case 'FINISH_REASON_UNSPECIFIED':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'MAX_TOKENS':
      return 'length';
    default:
      return 'content_filter';
  }
}

/** What to say in place of an answer that was withheld. */
export const withheld = (reason: string, message: string | undefined): string =>
  message ?? `The provider withheld the answer (${reason.slice(0, 60)}).`;
