import type { Surface } from '@tallygate/contract';
import type { AppRoute } from '@ts-rest/core';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { Problem } from '../../kernel/problem.ts';
import type { AccessRule } from './access-control.ts';
import type { AnswerKind } from './answer-headers.ts';
import type { Exchange } from './exchange.ts';
import type { RefusalForm } from './refusals.ts';

/** A path with a method, and what answers it. */
export interface ServedRoute {
  readonly method: AppRoute['method'];
  /** Parameters are `:name` segments; `*` at the end matches any rest. A GET answers HEAD as well. */
  readonly path: string;
  /** Which headers its answers have. */
  readonly kind: AnswerKind;
  /** What the contract says of it; undefined for pages, which ask for nothing. */
  readonly operation?: ServedOperation;
  /** Answers, or throws what the request is refused with. */
  answer(exchange: Exchange): unknown;
  readonly refusal?: RefusalForm;
  /** Counts what it refuses to proven callers among their requests itself. */
  readonly countsRefusals?: true;
}

export interface ServedOperation extends AccessRule {
  /** The schema of its query; absent where it takes none. `any`: parameters that it does not have are passed over. */
  readonly query?: AppRoute['query'] | 'any';
}

interface Found {
  readonly route: ServedRoute;
  readonly params: Readonly<Record<string, string | undefined>>;
}

export interface Router {
  find(method: string, pathname: string): Found | undefined;
  /** Which headers the answers at a path have: those of a site where it has nothing but pages. */
  kindAt(pathname: string): AnswerKind;
  /** In whose form what a path has answers; undefined: in our own. */
  surfaceAt(pathname: string): Surface | undefined;
  /** The path without the slash that some clients end it in, where only so it is an operation's. */
  withoutSlash(pathname: string): string;
  /** Why nothing was found: no such path, or not with this method. */
  missing(method: string, pathname: string): Problem;
}

const METHODS: readonly HTTPMethod[] = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
/** A path is no longer than the headers may be. */
const LONGEST_PARAMETER = 16_384;

/** Paths match exactly, case included; a slash at the end is taken away beforehand ({@link Router.withoutSlash}). Where two match, the one with fewer parameters answers. */
export function createRouter(routes: readonly ServedRoute[]): Router {
  const router = findMyWay({ caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: LONGEST_PARAMETER });
  for (const route of routes) router.on(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method], route.path, () => {}, route);
  const find = (method: string, pathname: string): Found | undefined => {
    const found = isMethod(method) ? router.find(method, pathname) : null;
    return found && hasValues(found.params) ? { route: found.store, params: found.params } : undefined;
  };
  return {
    find,
    kindAt(pathname) {
      const kinds = METHODS.flatMap((method) => find(method, pathname)?.route.kind ?? []);
      return kinds.length > 0 && kinds.every((kind) => kind === 'site') ? 'site' : 'api';
    },
    surfaceAt: (pathname) =>
      METHODS.map((method) => find(method, pathname)?.route.operation?.metadata.surface).find((one) => one !== undefined),
    withoutSlash(pathname) {
      if (pathname.length < 2 || !pathname.endsWith('/') || METHODS.some((method) => find(method, pathname))) return pathname;
      const path = pathname.slice(0, -1);
      return METHODS.some((method) => find(method, path)?.route.operation) ? path : pathname;
    },
    missing(method, pathname) {
      const methods = METHODS.filter((one) => find(one, pathname) !== undefined);
      if (methods.length === 0) return unknownPath();
      const allow = methods.join(', ');
      return new Problem('method_not_allowed', `This path does not have the method ${method.slice(0, 20)}: it has ${allow}.`, {
        headers: { allow },
      });
    },
  };
}

/** The rest of a path may be empty, an id may not. */
const hasValues = (params: Found['params']): boolean => {
  for (const name in params) if (params[name] === '' && name !== '*') return false;
  return true;
};

const isMethod = (method: string): method is HTTPMethod => METHODS.some((one) => one === method);

export const unknownPath = (): Problem =>
  new Problem(
    'unknown_path',
    'There is no such endpoint here: /openapi.json lists all there are, and the base URL of OpenAI clients ends in /v1.',
  );
