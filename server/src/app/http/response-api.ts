import { contract } from '@tallygate/contract';
import type { FollowResponse } from '../../inference/index.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';

const { get: RESPONSE } = contract.storedResponses;

/** `GET /v1/responses/{id}?stream=true`: the events of a kept response, which its route gives as a whole otherwise. */
export const withResponseStream = (routes: readonly ServedRoute[], follow: FollowResponse): ServedRoute[] =>
  routes.map((served) =>
    served.method === RESPONSE.method && served.path === RESPONSE.path
      ? { ...served, answer: (exchange) => (isStream(exchange) ? stream(exchange, follow) : served.answer(exchange)) }
      : served,
  );

const isStream = ({ req: { method, url = '' } }: Exchange): boolean => method === 'GET' && queryParamsOf(url).get('stream') === 'true';

async function stream(exchange: Exchange, follow: FollowResponse): Promise<void> {
  const { res, params } = exchange;
  const query = queryOf(exchange, RESPONSE.query);
  const hangUp = new AbortController();
  res.once('close', () => hangUp.abort());
  await follow(res, { principal: principalOf(exchange), id: params['response_id'] ?? '', query, signal: hangUp.signal });
}
