import { ClientSignature, ResponseRequest } from '@tallygate/contract';
import * as z from 'zod';
import type { CallContext } from '../call-context.ts';
import type { InferenceHeaders } from '../headers.ts';
import { isRecord } from '../usage.ts';
import type { Json } from './stored-responses.ts';

/** JSON has no integers of 64 bits. */
type StoredHeaders = Omit<InferenceHeaders, 'runCap'> & { readonly runCap: string | null };

const BackgroundRequest = z.object({
  /** Without its input, which is kept beside it. */
  request: ResponseRequest,
  receiptId: z.string(),
  requestId: z.string(),
  clientRequestId: z.string().nullable(),
  requestSha256: z.string(),
  startedAt: z.number(),
  /** Who asked, where it was no key. */
  session: z.object({ id: z.string(), userId: z.string() }).nullable(),
  clientSignature: ClientSignature.nullable(),
  headers: z.custom<StoredHeaders>((value) => isRecord(value) && (value['runCap'] === null || typeof value['runCap'] === 'string')),
});

/**
 * Everything that a background response needs of its request. Its ids are drawn once, so that however often it is begun, it is one
 * request with one hold, one receipt and one charge.
 */
export type BackgroundRequest = z.infer<typeof BackgroundRequest>;

export const backgroundRequestOf = (request: ResponseRequest, requestSha256: string, call: CallContext): BackgroundRequest => {
  const { principal } = call.grant;
  const { runCap } = call.headers;
  return {
    request,
    receiptId: call.receiptId,
    requestId: call.requestId,
    clientRequestId: call.clientRequestId,
    requestSha256,
    startedAt: call.startedAt,
    session: principal.kind === 'session' ? { id: principal.sessionId, userId: principal.userId } : null,
    clientSignature: call.clientSignature,
    headers: { ...call.headers, runCap: runCap === null ? null : runCap.toString() },
  };
};

export const parseBackgroundRequest = (stored: Json): BackgroundRequest => BackgroundRequest.parse(stored);

export const headersOf = ({ headers }: BackgroundRequest): InferenceHeaders => ({
  ...headers,
  runCap: headers.runCap === null ? null : BigInt(headers.runCap),
});
