import { contract } from '@tallygate/contract';
import type { FollowResponse, RefusedRequests } from '../../inference/calls/index.ts';
import { whenClosed } from './closed.ts';
import { modelCallerOf } from './credentials.ts';
import { type Exchange, grantOf } from './exchange.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';

const { get: RESPONSE } = contract.storedResponses;
const COUNTS = [contract.storedResponses.countTokens, contract.messageTokens.countTokens, contract.googleModels.countTokens];

/** `GET /v1/responses/{id}?stream=true`: the events of a stored response, which its route returns as a whole otherwise. */
export const withResponseStream = (routes: readonly ServedRoute[], follow: FollowResponse): ServedRoute[] =>
  routes.map((served) =>
    served.method === RESPONSE.method && served.path === RESPONSE.path
      ? { ...served, answer: (exchange) => (isStream(exchange) ? stream(exchange, follow) : served.answer(exchange)) }
      : served,
  );

/** To count tokens runs no model, so no hold counts it: it is counted among the requests of its caller here. */
export const withCountedTokens = (routes: readonly ServedRoute[], requests: RefusedRequests): ServedRoute[] =>
  routes.map((served) =>
    COUNTS.some(({ method, path }) => served.method === method && served.path === path)
      ? { ...served, answer: (exchange) => counted(exchange, served, requests) }
      : served,
  );

async function counted(exchange: Exchange, { answer }: ServedRoute, requests: RefusedRequests): Promise<void> {
  const grant = modelCallerOf(grantOf(exchange));
  requests.requireRoom(grant);
  const rates = await requests.count(grant);
  for (const [name, value] of Object.entries(rates)) exchange.res.setHeader(name, value);
  await answer(exchange);
}

const isStream = ({ req: { method, url = '' } }: Exchange): boolean => method === 'GET' && queryParamsOf(url).get('stream') === 'true';

async function stream(exchange: Exchange, follow: FollowResponse): Promise<void> {
  const { res, params } = exchange;
  const query = queryOf(exchange, RESPONSE.query);
  const hangUp = new AbortController();
  whenClosed(res, () => hangUp.abort());
  await follow(res, {
    principal: modelCallerOf(grantOf(exchange)).principal,
    id: params['response_id'] ?? '',
    query,
    signal: hangUp.signal,
  });
}
