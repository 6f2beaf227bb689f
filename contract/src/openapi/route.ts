import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import * as z from 'zod';
import type { RouteMetadata } from '../conventions.ts';

/** A route of the contract as the document sees it: its schemas known to be zod's, its metadata typed. */
export interface Route {
  readonly method: string;
  /** In OpenAPI's notation: `/v1/keys/{key_id}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly metadata: RouteMetadata;
  readonly pathParams: readonly Field[];
  readonly query: readonly Field[];
  /** The schema that the query was given as. */
  readonly querySchema: unknown;
  readonly headers: readonly Field[];
  readonly body: z.ZodType | undefined;
  /** Media type of the body. */
  readonly bodyType: 'application/json' | 'multipart/form-data' | 'text/csv' | 'message/rfc822';
  readonly responses: readonly Answer[];
  /** Whether it runs a model: the endpoints that take the agent-run headers for themselves. */
  readonly isInference: boolean;
  readonly isIdempotent: boolean;
}

export interface Field {
  readonly name: string;
  readonly schema: z.ZodType;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** Undefined where the answer has no body. */
  readonly schema: z.ZodType | undefined;
}

export type Router = AppRouter;

/** Every route of a contract, in its order. */
export function routesOf(contract: Router): Route[] {
  return Object.values(contract).flatMap((entry) => (isAppRoute(entry) ? [readRoute(entry)] : routesOf(entry)));
}

function readRoute(route: AppRoute): Route {
  const name = `${route.method} ${route.path}`;
  if (!isRouteMetadata(route.metadata)) throw new Error(`${name} has no metadata.`);
  if (!route.summary || !route.description) throw new Error(`${name} needs a summary and a description.`);
  const headers = Object.entries(route.headers ?? {}).map(([header, schema]) => ({ name: header, schema: zodOf(schema, name) }));
  return {
    method: route.method.toLowerCase(),
    path: pathOf(route.path, route.metadata),
    summary: route.summary,
    description: route.description,
    metadata: route.metadata,
    pathParams: fieldsOf(route.pathParams, name),
    query: fieldsOf(route.query, name),
    querySchema: route.query,
    headers,
    body: 'body' in route && isZod(route.body) ? route.body : undefined,
    bodyType: bodyTypeOf(route, route.metadata),
    responses: Object.entries(route.responses).map(([status, response]) => readAnswer(Number(status), response)),
    isInference: !route.metadata.isForLater && headers.some((header) => header.name === 'x-agent-run-id'),
    isIdempotent: headers.some((header) => header.name === 'idempotency-key'),
  };
}

function pathOf(path: string, { customMethod }: RouteMetadata): string {
  const named = path.replaceAll(/:([a-z_]+)/g, '{$1}');
  return customMethod ? named.replace(/\/(?=[^/]+$)/, ':') : named;
}

/** ts-rest knows neither CSV nor mails. */
function bodyTypeOf(route: AppRoute, { body }: RouteMetadata): Route['bodyType'] {
  if (body === 'csv') return 'text/csv';
  if (body === 'mail') return 'message/rfc822';
  return 'contentType' in route && route.contentType === 'multipart/form-data' ? route.contentType : 'application/json';
}

function readAnswer(status: number, response: unknown): Answer {
  if (isZod(response)) return { status, contentType: 'application/json', schema: response };
  if (isOtherResponse(response)) return { status, contentType: response.contentType, schema: response.body };
  return { status, contentType: '', schema: undefined };
}

function fieldsOf(schema: unknown, route: string): Field[] {
  if (schema === undefined) return [];
  if (!(schema instanceof z.ZodObject)) throw new Error(`${route}: parameters must be a z.object.`);
  return Object.entries(schema.shape).map(([name, field]) => ({ name, schema: zodOf(field, route) }));
}

function zodOf(value: unknown, route: string): z.ZodType {
  if (!isZod(value)) throw new Error(`${route} has a schema that is not zod’s.`);
  return value;
}

const isZod = (value: unknown): value is z.ZodType => typeof value === 'object' && value !== null && '_zod' in value;

const isOtherResponse = (value: unknown): value is { contentType: string; body: z.ZodType } =>
  typeof value === 'object' && value !== null && 'contentType' in value && 'body' in value && isZod(value.body);

const isRouteMetadata = (value: unknown): value is RouteMetadata =>
  typeof value === 'object' && value !== null && 'auth' in value && 'tag' in value && 'operationId' in value;
