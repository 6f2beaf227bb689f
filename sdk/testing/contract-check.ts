import { contract, type RouteMetadata } from '@tallygate/contract';
import * as z from 'zod';
import type { StubAnswer, StubRequest } from './stub-gateway.ts';

/** The part of a ts-rest route that the checks read. */
interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly query: unknown;
  readonly responses: Readonly<Record<number, unknown>>;
  readonly metadata: RouteMetadata;
}

/** Every operation of the contract, by slice and name (`keys.rotate`). */
export const ROUTES: readonly Route[] = Object.entries(contract).flatMap(([slice, routes]) =>
  Object.entries(routes).map(([name, route]) => ({ body: undefined, query: undefined, ...route, name: `${slice}.${name}` })),
);

/** The operation of a request, by method and path; `export` in `/v1/receipts/export` is not an id. */
export function routeOf({ method, path }: { readonly method: string; readonly path: string }): Route | undefined {
  const matching = ROUTES.filter((route) => route.method === method && pathPattern(route.path).test(path));
  return matching.find((route) => route.path === path) ?? matching[0];
}

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);

/** Why the contract's gateway would refuse the request; `undefined` when it would not. */
export function checkRequest(request: StubRequest): string | undefined {
  const route = routeOf(request);
  if (route === undefined) return `The contract has no ${request.method} ${request.path}.`;
  return faultIn('body', route.body, request.body) ?? faultIn('query', route.query, request.query);
}

/** Why the contract's gateway would never answer so; `undefined` when it could. Only JSON is held against the contract. */
export function checkAnswer(request: StubRequest, answer: StubAnswer): string | undefined {
  if (!('json' in answer)) return undefined;
  const status = answer.status ?? 200;
  const declared = routeOf(request)?.responses[status];
  if (declared === undefined) return `The contract has no ${status} for ${request.method} ${request.path}.`;
  const schema = typeof declared === 'object' && declared !== null && 'body' in declared ? declared.body : declared;
  return faultIn(`${status}`, schema, answer.json);
}

function faultIn(where: string, schema: unknown, value: unknown): string | undefined {
  if (!(schema instanceof z.ZodType)) return undefined;
  const { error } = schema.safeParse(value);
  return error && `Against the contract, ${where}: ${z.prettifyError(error)}`;
}
