import { errorFromProblem, TallygateError } from '../errors.ts';
import type { Problem } from '../generated/models.ts';

const NOT_MODIFIED = 304;
const UNCHANGED = 'Nothing has changed since the ETag that the call sent as if-none-match: what you have is current.';

/** Reads the body of an answer that is not a success, of any type, and makes the typed error of it. */
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
  const origin = { status, code: 'unexpected_response', headers } as const;
  const page = pageIn(headers, text);
  if (page === undefined) {
    const excerpt = text.trim().slice(0, 200);
    return errorFromProblem(`The service answered ${status}${excerpt && `: ${excerpt}`}`, origin);
  }
  const answered = `What answers is a web page (${status}${page && `, "${page}"`})`;
  // An error of a proxy in front of the gateway; any other body comes from another server.
  if (status >= 500) return errorFromProblem(`${answered}.`, origin);
  return new TallygateError(`${answered}: is the base URL the address of a gateway?`, origin);
}

/** The title of a web page; `undefined` for what is none. */
function pageIn(headers: Headers, text: string): string | undefined {
  if (!headers.get('content-type')?.startsWith('text/html') && !/^\s*<(?:!doctype|html)/i.test(text)) return undefined;
  const [, title = ''] = /<title[^>]*>([^<]*)/i.exec(text) ?? [];
  return title.trim().replace(/\s+/g, ' ').slice(0, 80);
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
