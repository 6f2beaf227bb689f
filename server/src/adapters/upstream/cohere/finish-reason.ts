import { textIn } from '../json-value.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** The provider gave the answer up, and says so where it says why it ended. */
export const hasFailed = (reason: unknown): boolean => reason === 'ERROR' || reason === 'TIMEOUT';

/** Cohere's reason in OpenAI's words. `ERROR_TOXIC` is of its first version, and what clouds that host its models still say. */
export function finishReasonOf(reason: unknown, hasCalls: boolean): FinishReason {
  switch (textIn(reason)) {
    case 'MAX_TOKENS':
      return 'length';
    case 'TOOL_CALL':
      return 'tool_calls';
    case 'ERROR_TOXIC':
      return 'content_filter';
    default:
      return hasCalls ? 'tool_calls' : 'stop';
  }
}
