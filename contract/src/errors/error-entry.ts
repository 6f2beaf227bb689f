/** What a caller of the OpenAI SDK sees as `error.type`. */
type OpenAiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'insufficient_quota'
  | 'rate_limit_error'
  | 'server_error';

export interface ErrorEntry {
  status: number;
  /** Short and constant: the problem document's `title`. */
  title: string;
  type: OpenAiErrorType;
  /** Whether the same request can succeed later without being changed. */
  retryable: boolean;
  /** When it happens and what to do about it: the text of the code's documentation page. */
  help: string;
}
