import type { UpstreamCall, UpstreamEndpoint } from '../port.ts';
import { composeChat } from './chat/compose.ts';
import type { Circumstances, Composition } from './composition.ts';
import type { Rejection } from './rejection.ts';

const ENDPOINTS: ReadonlySet<UpstreamEndpoint> = new Set(['/v1/chat/completions'] as const);

export const isAnswered = (endpoint: UpstreamEndpoint): boolean => ENDPOINTS.has(endpoint);

/** The answer of the call's endpoint; undefined where the sandbox does not know it. */
export function compose(
  call: UpstreamCall,
  circumstances: Circumstances,
): Composition | Rejection | Promise<Composition | Rejection> | undefined {
  switch (call.endpoint) {
    case '/v1/chat/completions':
      return composeChat(call, circumstances);
    default:
      return undefined;
  }
}
