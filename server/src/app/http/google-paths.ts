import type { IncomingHttpHeaders } from 'node:http';
import { contract, type RouteMetadata } from '@tallygate/contract';
import type { AppRoute } from '@ts-rest/core';
import { metadataOf } from './endpoint.ts';
import { pathnameOf, queryParamsOf } from './target.ts';

/** The list of models, one of them by its name, which may have slashes and colons, or a method of one. */
const MODELS = /^\/v1(alpha|beta)?\/models(?:\/(.+?))?\/?$/;
const METHOD = /^(.+)[:/]([A-Za-z]+)$/;
const GOOGLE_PATH = /^\/v1(?:alpha|beta)\//;
const KEY = 'x-goog-api-key';

const isCustom = ({ customMethod }: RouteMetadata): boolean => customMethod === true;
const METHODS: ReadonlySet<string> = new Set(
  Object.values<AppRoute>({ ...contract.inference, ...contract.googleModels })
    .filter((route) => isCustom(metadataOf(route)))
    .map(({ path }) => path.slice(path.lastIndexOf('/') + 1)),
);

/**
 * Google's paths as the contract has them: `/v1beta/models/{model}:generateContent` with its method as a step by itself. A model's name may
 * have slashes, as at OpenRouter. The versions `v1` and `v1alpha` are the same here; at `/v1/models`, which has OpenAI's form for all others,
 * Google's clients are known by the header or the parameter that they send their key in. A key in the query (`?key=`) becomes that header,
 * so that nothing behind this sees it in an address. Any other target is as it was.
 *
 * @param target with every step of its path decodable
 * @param headers gets the key of the query
 */
export function withoutColons(target: string, headers: IncomingHttpHeaders): string {
  // As most requests come, the hot path above all.
  if (!target.startsWith('/v1/models') && !target.startsWith('/v1beta/') && !target.startsWith('/v1alpha/')) return target;
  const pathname = pathnameOf(target);
  const [isOfModels, version, name] = MODELS.exec(pathname) ?? [];
  if (isOfModels === undefined) return GOOGLE_PATH.test(pathname) ? `${betaOf(pathname)}${withoutKey(target, headers)}` : target;
  const method = methodIn(name);
  const isGoogles = version !== undefined || method || headers[KEY] !== undefined || queryParamsOf(target).has('key');
  if (!isGoogles) return target;
  const model = method?.model ?? name;
  const steps = [model && encodeURIComponent(decodeURIComponent(model)), method?.name].filter((step) => step !== undefined);
  return `${['/v1beta/models', ...steps].join('/')}${withoutKey(target, headers)}`;
}

const betaOf = (pathname: string): string => pathname.replace(GOOGLE_PATH, '/v1beta/');

function methodIn(path: string | undefined): { readonly model: string; readonly name: string } | undefined {
  const [, model, name] = METHOD.exec(path ?? '') ?? [];
  return model !== undefined && name !== undefined && METHODS.has(name) ? { model, name } : undefined;
}

/** The query without its key. Keys that differ, from each other or from the header's, are all in the header: together they are refused. */
function withoutKey(target: string, headers: IncomingHttpHeaders): string {
  const query = queryParamsOf(target);
  if (query.has('key')) {
    const sent = headers[KEY];
    const keys = new Set([...(sent === undefined ? [] : [String(sent)]), ...query.getAll('key')]);
    headers[KEY] = [...keys].join(', ');
    query.delete('key');
  }
  return query.size === 0 ? '' : `?${query}`;
}
