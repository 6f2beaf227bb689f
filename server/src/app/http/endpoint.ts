import type { RouteMetadata } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import type { Call, Handlers, Principal } from '../../http/index.ts';

/** A call whose input was checked against the endpoint's own route, so its members have the types that the handler asks for. */
export interface CheckedCall extends Call {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  /** Absent on routes without a bearer credential. */
  readonly principal: Principal | undefined;
}

type Handle = (call: CheckedCall) => Promise<{ status: number; body?: unknown }>;

/** A route of the contract with what serves it. */
export interface Endpoint {
  readonly route: AppRoute;
  readonly metadata: RouteMetadata;
  readonly handle: Handle;
}

/**
 * A slice's contract and handlers, checked against each other by the compiler here and nowhere later: behind it all endpoints
 * have one type.
 */
export function endpointsOf<Contract extends AppRouter>(contract: Contract, handlers: Handlers<Contract>): Endpoint[] {
  const byName = new Map<string, unknown>(Object.entries(handlers));
  return Object.entries(contract).map(([name, route]) => {
    const handle = byName.get(name);
    if (!isAppRoute(route) || !isHandle(handle)) throw new Error(`"${name}" is not a route with a handler`);
    return { route, metadata: metadataOf(route), handle };
  });
}

/** @throws for a route that does not say who may call it: such a route must not come up */
export function metadataOf(route: AppRoute): RouteMetadata {
  const { metadata } = route;
  if (!isMetadata(metadata)) throw new Error(`${route.method} ${route.path} does not say in its metadata who may call it`);
  return metadata;
}

// What the compiler has checked by the signature of `endpointsOf` cannot be checked again at run time.
const isHandle = (value: unknown): value is Handle => typeof value === 'function';
const isMetadata = (value: unknown): value is RouteMetadata =>
  typeof value === 'object' && value !== null && 'auth' in value && ['bearer', 'internal', 'none'].includes(String(value.auth));
