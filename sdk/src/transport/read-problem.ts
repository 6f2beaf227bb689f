import { errorFromProblem, TallygateError } from '../errors.ts';
import type { Problem } from '../generated/models.ts';

const NOT_MODIFIED = 304;
const UNCHANGED = 'Nothing has changed since the ETag that the call sent as if-none-match: what you have is current.';

/** Reads the body of an answer that is no success, whatever it turns out to be, and makes the typed error of it. */
export async function readError(response: Response): Promise<TallygateError> {
  const { status, headers } = response;
  if (status === NOT_MODIFIED) return new TallygateError(UNCHANGED, { status, code: 'not_modified', headers });
  // A proxy in between may answer with anything, or break off: the status alone still makes an error.
  return errorOfAnswer({ status, headers, text: await response.text().catch(() => '') });
}

/** The typed error of an answer that is no success and has been read already. */
export function errorOfAnswer({ status, headers, text }: { status: number; headers: Headers; text: string }): TallygateError {
  const problem = parseProblem(text);
  if (problem !== undefined) return errorFromProblem(problem.detail, { status, code: problem.code, headers, problem });
  const excerpt = text.trim().slice(0, 200);
  return errorFromProblem(`The service answered ${status}${excerpt && `: ${excerpt}`}`, { status, code: 'unexpected_response', headers });
}

/** A problem document, or `undefined` for any other text. */
export function parseProblem(text: string): Problem | undefined {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, detail } = value as Partial<Problem>;
  return typeof code === 'string' && typeof detail === 'string' ? (value as Problem) : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
