import type { Cut, ExactUsage, Step } from './step.ts';

const refusalBody = (message: string, type: string, code: string | null, param: string | null) => ({
  error: { message, type, param, code },
});

/** OpenAI's error answer. */
export const refused = (status: number, message: string, named: { code?: string; param?: string } = {}): Step => ({
  status,
  body: refusalBody(message, status < 500 ? 'invalid_request_error' : 'server_error', named.code ?? null, named.param ?? null),
});

export const rateLimited = (retryAfter: { seconds?: number; ms?: number; date?: Date } = {}): Step => ({
  status: 429,
  headers: {
    ...(retryAfter.seconds !== undefined && { 'retry-after': String(retryAfter.seconds) }),
    ...(retryAfter.date !== undefined && { 'retry-after': retryAfter.date.toUTCString() }),
    ...(retryAfter.ms !== undefined && { 'retry-after-ms': String(retryAfter.ms) }),
  },
  body: refusalBody('Rate limit reached.', 'requests', 'rate_limit_exceeded', null),
});

export const serverError = (status = 500): Step => refused(status, 'The scripted provider failed.');
export const redirect = (location: string): Step => ({ status: 307, headers: { location }, body: '' });
export const malformedJson = (): Step => ({ headers: { 'content-type': 'application/json' }, body: '{"id": "chatcmpl-1", "choices": [' });
export const emptyBody = (): Step => ({ headers: { 'content-type': 'application/json' }, body: '' });
export const html = (status = 200): Step => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><body><h1>Bad gateway</h1></body></html>',
});
export const hugeBody = (bytes: number): Step => ({ body: { padding: 'x'.repeat(bytes) } });

export const resetBeforeHead = (): Step => ({ cut: { at: 'before_head', how: 'reset' } });
export const silence = (): Step => ({ cut: { at: 'before_head', how: 'stall' } });
export const resetAfterHead = (): Step => ({ cut: { at: 'after_head', how: 'reset' } });
export const headThenSilence = (): Step => ({ cut: { at: 'after_head', how: 'stall' } });
/** A plain body whose `content-length` promises more than its first 40 bytes. */
export const cutBody = (how: Cut['how']): Step => ({ pieceBytes: 40, cut: { at: 1, how } });
/** A stream that stops after so many events. */
export const cutStream = (events: number, how: Cut['how']): Step => ({ cut: { at: events, how } });

export const errorMidStream = (events: number): Step => ({ errorAfter: events });
export const withoutDone = (): Step => ({ done: false });
export const crlf = (): Step => ({ lineEnd: '\r\n' });
export const pings = (): Step => ({ pings: true });
/** Pieces of so many bytes: with 1, also inside a UTF-8 sequence and between the two line ends of an event. */
export const split = (bytes: number): Step => ({ pieceBytes: bytes });
export const longStream = (chunks: number, gapMs = 0): Step => ({ tokens: chunks, gapMs });

export const usageMissing = (): Step => ({ usage: () => undefined });
export const usageZero = (): Step => usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
export const usageNegative = (): Step => usage({ prompt_tokens: -5, completion_tokens: -1, total_tokens: -6 });
export const usageStrings = (): Step => usage({ prompt_tokens: '10', completion_tokens: '8', total_tokens: '18' });
export const usageAbsurd = (): Step => usage({ prompt_tokens: 1e15, completion_tokens: 1e308, total_tokens: 1e308 });
export const usageCachedAbovePrompt = (): Step => ({
  usage: (exact) => ({ ...exact, prompt_tokens_details: { cached_tokens: exact.prompt_tokens + 1 } }),
});
/** The exact usage with some of its members replaced. */
export const usage = (members: Readonly<Record<string, unknown>>): Step => ({ usage: (exact: ExactUsage) => ({ ...exact, ...members }) });
