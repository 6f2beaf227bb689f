/** Why a request cannot be answered, in words for the caller. */
export interface Rejection {
  readonly ok: false;
  readonly message: string;
  /** OpenAI's `error.param`: the field at fault. */
  readonly param: string | null;
  /** OpenAI's `error.code`. */
  readonly code: string;
}

export const rejection = (message: string, { param, code }: { param: string | null; code: string }): Rejection => ({
  ok: false,
  message,
  param,
  code,
});
