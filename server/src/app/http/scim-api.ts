import type { RouteMetadata } from '@tallygate/contract';
import * as z from 'zod';
import {
  type DirectoryGroups,
  type DirectoryUsers,
  patched,
  RESOURCE_TYPES,
  SCHEMAS,
  ScimError,
  ScimGroup,
  ScimPatch,
  ScimQuery,
  ScimUser,
  SERVICE_PROVIDER_CONFIG,
} from '../../access/directory/index.ts';
import { originOf } from '../../audit/index.ts';
import type { Administrator } from '../../http/index.ts';
import { Problem } from '../../kernel/problem.ts';
import { readBody } from './body.ts';
import { type Exchange, principalOf } from './exchange.ts';
import type { PeerAddress } from './peer-address.ts';
import { queryIn } from './query.ts';
import type { RefusalForm } from './refusals.ts';
import { shownIdOf } from './request-ids.ts';
import type { ServedRoute } from './router.ts';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const TYPE = 'application/scim+json; charset=utf-8';
const BODY = { maxBytes: 1024 * 1024, timeoutMs: 30_000 };
const ID = z.uuid();
const NOT_ITS_ACCOUNT = 'The directory of this gateway is that of another account: its operator says whose by DIRECTORY_ACCOUNT_ID.';

const METADATA: RouteMetadata = {
  ...{ auth: 'bearer', session: true, manage: 'scim', accountRole: 'admin', tag: 'Members', operationId: 'scim' },
};

interface ScimApiDeps {
  readonly users: DirectoryUsers;
  readonly groups: DirectoryGroups;
  /** Whose directory is believed: it names addresses that nobody has proven. */
  readonly accountId: () => Promise<string>;
  readonly publicUrl: () => string;
  readonly peerAddress: PeerAddress;
}

/** What one kind of resource can do, with its schema. */
interface Resources<Wanted> {
  readonly path: 'Users' | 'Groups';
  readonly schema: z.ZodType<Wanted>;
  readonly of: {
    list(accountId: string, query: ScimQuery): Promise<object>;
    get(accountId: string, id: string): Promise<Resource>;
    create(principal: Administrator, wanted: Wanted, origin: Origin): Promise<Resource>;
    change(principal: Administrator, id: string, wantedOf: (before: Resource) => Wanted, origin: Origin): Promise<Resource>;
    delete(principal: Administrator, id: string, origin: Origin): Promise<void>;
  };
}

type Origin = ReturnType<typeof originOf>;
type Resource = { readonly id: string };
type Method = ServedRoute['method'];

/** SCIM 2.0 (RFC 7644): the directory of a company says who its people are. Not in the contract: it is a protocol of others, with errors of its own. */
export function scimRoutes(deps: ScimApiDeps): ServedRoute[] {
  const routes = [
    describe('ServiceProviderConfig', SERVICE_PROVIDER_CONFIG),
    describe('ResourceTypes', listOf(RESOURCE_TYPES)),
    describe('Schemas', listOf(SCHEMAS)),
    ...routesOf({ path: 'Users', schema: ScimUser, of: deps.users }, deps),
    ...routesOf({ path: 'Groups', schema: ScimGroup, of: deps.groups }, deps),
  ];
  return routes.map((route) => ({
    ...route,
    answer: async (exchange) => {
      if (principalOf(exchange).accountId !== (await deps.accountId())) throw new Problem('forbidden', NOT_ITS_ACCOUNT);
      await route.answer(exchange);
    },
  }));
}

const listOf = (Resources: readonly object[]) => ({ schemas: [LIST_SCHEMA], totalResults: Resources.length, Resources });
const describe = (name: string, document: object): ServedRoute => route('GET', name, (exchange) => send(exchange, 200, document));

const route = (method: Method, path: string, answer: (exchange: Exchange) => unknown): ServedRoute => ({
  ...{ method, path: `/scim/v2/${path}`, kind: 'api', operation: { metadata: METADATA, query: 'any' }, refusal: { reply: asScimError } },
  answer: async (exchange) => {
    try {
      await answer(exchange);
    } catch (error) {
      if (!(error instanceof ScimError)) throw error;
      const { status, message: detail, scimType } = error;
      send(exchange, status, { schemas: [ERROR_SCHEMA], status: String(status), detail, ...(scimType && { scimType }) });
    }
  },
});

function routesOf<Wanted>({ path, schema, of }: Resources<Wanted>, { publicUrl, peerAddress }: ScimApiDeps): ServedRoute[] {
  const located = (resource: Resource) => {
    const location = `${publicUrl()}/scim/v2/${path}/${resource.id}`;
    return { ...resource, meta: { ...Object(Object(resource).meta), location } };
  };
  const who = (exchange: Exchange): readonly [Administrator, Origin] => [administratorOf(exchange), originIn(exchange, peerAddress)];
  const idOf = ({ params }: Exchange): string => {
    const id = ID.safeParse(params['id']);
    if (!id.success) throw new ScimError(404, 'There is no such resource.');
    return id.data;
  };
  const change = async (exchange: Exchange, wantedOf: (before: Resource) => unknown): Promise<void> => {
    const [principal, origin] = who(exchange);
    send(exchange, 200, located(await of.change(principal, idOf(exchange), (before) => parsed(schema, wantedOf(before)), origin)));
  };
  return [
    route('GET', path, async (exchange) => {
      const query = parsed(ScimQuery, queryIn(exchange));
      send(exchange, 200, await of.list(principalOf(exchange).accountId, query));
    }),
    route('POST', path, async (exchange) => {
      const [principal, origin] = who(exchange);
      const made = located(await of.create(principal, parsed(schema, await bodyOf(exchange)), origin));
      exchange.res.setHeader('location', made.meta.location);
      send(exchange, 201, made);
    }),
    route('GET', `${path}/:id`, async (exchange) =>
      send(exchange, 200, located(await of.get(principalOf(exchange).accountId, idOf(exchange)))),
    ),
    route('PUT', `${path}/:id`, async (exchange) => {
      const wanted = await bodyOf(exchange);
      await change(exchange, () => wanted);
    }),
    route('PATCH', `${path}/:id`, async (exchange) => {
      const operations = parsed(ScimPatch, await bodyOf(exchange));
      await change(exchange, (before) => patched({ ...before }, operations));
    }),
    route('DELETE', `${path}/:id`, async (exchange) => {
      const [principal, origin] = who(exchange);
      await of.delete(principal, idOf(exchange), origin);
      exchange.res.writeHead(204).end();
    }),
  ];
}

/** @throws ScimError */
function parsed<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = issue?.path.join('.');
  throw new ScimError(400, `${at || 'The body'} ${issue?.message}.`, at === 'filter' ? 'invalidFilter' : 'invalidValue');
}

async function bodyOf({ req }: Exchange): Promise<unknown> {
  const bytes = await readBody(req, BODY);
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new ScimError(400, 'The body is not valid JSON.', 'invalidValue');
  }
}

function administratorOf(exchange: Exchange): Administrator {
  const principal = principalOf(exchange);
  if (principal.kind === 'key') throw new Error('An API key was let in where none is');
  return principal;
}

const originIn = (exchange: Exchange, peerAddress: PeerAddress): Origin =>
  originOf({
    peer: { address: peerAddress(exchange.req), userAgent: exchange.req.headers['user-agent'] ?? null },
    requestId: shownIdOf(exchange),
  });

function send({ req, res }: Exchange, status: number, body: object): void {
  res.writeHead(status, { 'content-type': TYPE }).end(req.method === 'HEAD' ? undefined : JSON.stringify(body));
}

/** The refusals that every route can have, in the form of RFC 7644, 3.12. */
const asScimError: NonNullable<RefusalForm['reply']> = (problem, _exchange, document) => ({
  status: document.status,
  headers: { ...document.headers, 'content-type': TYPE },
  body: Buffer.from(
    JSON.stringify({
      ...{ schemas: [ERROR_SCHEMA], status: String(document.status), detail: problem.message },
      ...(problem.code === 'conflict' && { scimType: 'uniqueness' }),
    }),
  ),
});
