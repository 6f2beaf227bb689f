import type { IncomingHttpHeaders } from 'node:http';
import { contract, type RouteMetadata } from '@tallygate/contract';
import type { AppRoute } from '@ts-rest/core';
import { metadataOf } from './endpoint.ts';
import { pathnameOf, queryParamsOf } from './target.ts';

const CUSTOM_METHOD = /^\/v1(?:alpha|beta)?\/models\/(.+):([A-Za-z]+)$/;
/** The list of models, which has OpenAI's form at `/v1` for all but Google's clients. */
const MODELS = /^\/v1(?=\/models(?:[/?]|$))/;
const GOOGLE_PATH = /^\/v1(?:alpha|beta)\//;

const isCustom = ({ customMethod }: RouteMetadata): boolean => customMethod === true;
const METHODS: ReadonlySet<string> = new Set(
  Object.values<AppRoute>({ ...contract.inference, ...contract.googleModels })
    .filter((route) => isCustom(metadataOf(route)))
    .map(({ path }) => path.slice(path.lastIndexOf('/') + 1)),
);

/**
 * Google's paths as the contract has them: `/v1beta/models/{model}:generateContent` with its method as a step by itself. A model's name may
 * have slashes, as at OpenRouter. The versions `v1` and `v1alpha` are the same here. A key in the query (`?key=`) becomes the header that it
 * may be sent in as well, so that nothing behind this sees it in an address. Any other target is as it was.
 *
 * @param target with every step of its path decodable
 * @param headers gets the key of the query
 */
export function withoutColons(target: string, headers: IncomingHttpHeaders): string {
  if (headers['x-goog-api-key'] !== undefined && MODELS.test(target) && !target.includes(':')) return target.replace(MODELS, '/v1beta');
  // As most requests come, the hot path above all.
  if (!target.includes(':') && !target.startsWith('/v1beta/') && !target.startsWith('/v1alpha/')) return target;
  const pathname = pathnameOf(target);
  const [, model, method = ''] = CUSTOM_METHOD.exec(pathname) ?? [];
  const isCall = model !== undefined && METHODS.has(method);
  if (!isCall && !GOOGLE_PATH.test(pathname)) return target;
  const path = isCall
    ? `/v1beta/models/${encodeURIComponent(decodeURIComponent(model))}/${method}`
    : pathname.replace(GOOGLE_PATH, '/v1beta/');
  return `${path}${withoutKey(target, headers)}`;
}

/** The query without its key. One that differs from the header's is another identity: together they are none. */
function withoutKey(target: string, headers: IncomingHttpHeaders): string {
  const query = queryParamsOf(target);
  const key = query.get('key');
  if (key !== null) {
    const sent = headers['x-goog-api-key'];
    headers['x-goog-api-key'] = sent === undefined || sent === key ? key : `${String(sent)}, ${key}`;
    query.delete('key');
  }
  return query.size === 0 ? '' : `?${query}`;
}
