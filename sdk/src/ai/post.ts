import type { JSONObject } from './models.ts';

/** Where the gateway is, and what every request of the provider carries. */
export interface Endpoint {
  /** With `/v1`. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch | undefined;
}

interface Sent {
  readonly path: string;
  readonly body: FormData | JSONObject;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal | undefined;
}

/** Asks once: retries are the AI SDK's. @throws ApiCallError */
export async function post(endpoint: Endpoint, { path, body, headers, signal }: Sent): Promise<Response> {
  const url = `${endpoint.baseURL}${path}`;
  const isForm = body instanceof FormData;
  const given = { ...endpoint.headers, ...headers, authorization: `Bearer ${endpoint.apiKey}` };
  const sent = new Headers(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  if (!isForm) sent.set('content-type', 'application/json');
  const send = endpoint.fetch ?? fetch;
  const init = { method: 'POST', headers: sent, body: isForm ? body : JSON.stringify(body), signal: signal ?? null };
  const answer = await send(url, init).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    const { cause = error } = Object(error) as { cause?: unknown };
    throw new ApiCallError(`Cannot connect to the gateway: ${cause instanceof Error ? cause.message : String(cause)}`, { url, cause });
  });
  if (answer.ok) return answer;
  const responseBody = await answer.text();
  const { status: statusCode, statusText } = answer;
  throw new ApiCallError(statusText || `Status ${statusCode}`, { url, statusCode, responseHeaders: headersOf(answer), responseBody });
}

export const headersOf = ({ headers }: Response): Record<string, string> => Object.fromEntries(headers);

interface Circumstances {
  readonly url: string;
  readonly cause?: unknown;
  readonly statusCode?: number;
  readonly responseHeaders?: Record<string, string>;
  readonly responseBody?: string;
}

/**
 * `APICallError` as the AI SDK knows it: by these symbols, and not by its class, of which a project may have several versions. Made here so
 * that no package is needed for it.
 */
class ApiCallError extends Error {
  override readonly name = 'AI_APICallError';
  readonly url: string;
  readonly statusCode: number | undefined;
  readonly responseHeaders: Record<string, string> | undefined;
  readonly responseBody: string | undefined;
  readonly isRetryable: boolean;

  constructor(message: string, { url, cause, statusCode, responseHeaders, responseBody }: Circumstances) {
    super(message, { cause });
    Object.assign(this, { [Symbol.for('vercel.ai.error')]: true, [Symbol.for(`vercel.ai.error.${this.name}`)]: true });
    this.url = url;
    this.statusCode = statusCode;
    this.responseHeaders = responseHeaders;
    this.responseBody = responseBody;
    this.isRetryable = statusCode === undefined || [408, 409, 429].includes(statusCode) || statusCode >= 500;
  }
}
