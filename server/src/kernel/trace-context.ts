import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** W3C Trace Context, version 00: the trace that a request belongs to. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 hex digits; undefined where the trace begins here. */
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
}

export const TRACEPARENT = 'traceparent';

const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const SAMPLED = 1;

/** What the caller says of its trace; undefined where it says nothing, or nothing well-formed. */
export function traceparentOf(headers: IncomingHttpHeaders): string | undefined {
  const given = headers[TRACEPARENT];
  return typeof given === 'string' && FORM.test(given) ? given : undefined;
}

/**
 * The trace of a request. Its ids follow from the request's own, so that nothing has to be carried along until somebody asks.
 * @param ratio of the traces that begin here, how many are sampled, from 0 to 1
 */
export function traceOf(requestId: string, traceparent: string | undefined, ratio: number): TraceContext {
  const [, traceId, parentSpanId, flags = '0'] = traceparent === undefined ? [] : (FORM.exec(traceparent) ?? []);
  if (traceId !== undefined) return { traceId, parentSpanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
  const own = digestOf(requestId, 'trace').slice(0, 32);
  return { traceId: own, parentSpanId: undefined, isSampled: Number.parseInt(own.slice(0, 8), 16) < ratio * 2 ** 32 };
}

/** @param part of the request: `root`, `attempt 0` */
export const spanIdOf = (requestId: string, part: string): string => digestOf(requestId, part).slice(0, 16);

/** What the next one is told, whose parent is that part of the request. */
export const traceparentFor = (requestId: string, { traceId, isSampled }: TraceContext, part: string): string =>
  `00-${traceId}-${spanIdOf(requestId, part)}-${isSampled ? '01' : '00'}`;

const digestOf = (requestId: string, part: string): string => hash('sha256', `${requestId} ${part}`, 'hex');
