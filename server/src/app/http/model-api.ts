import { type AnthropicModel, type AnthropicModelList, AnthropicModelQuery, contract, type Model } from '@tallygate/contract';
import { rfc3339 } from '../../kernel/clock.ts';
import { indexInList } from '../../kernel/page.ts';
import type { ShownModels } from '../../money/catalog/index.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';

const { listModels: LIST, getModel: GET } = contract.catalog;

/** `GET /v1/models` and `/v1/models/{model}` as Anthropic’s clients read them: those that send `anthropic-version`. */
export const withModelsOnSurfaces = (routes: readonly ServedRoute[], models: ShownModels): ServedRoute[] =>
  routes.map((served) => {
    const shown = served.method !== 'GET' ? undefined : served.path === LIST.path ? listed : served.path === GET.path ? one : undefined;
    if (!shown) return served;
    return { ...served, answer: (exchange) => (exchange.surface ? sendJson(exchange, shown(exchange, models)) : served.answer(exchange)) };
  });

function sendJson({ res, req: { method } }: Exchange, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(method === 'HEAD' ? undefined : body);
}

const one = ({ params }: Exchange, models: ShownModels): AnthropicModel => toAnthropic(models.get(params['model'] ?? ''));

function listed(exchange: Exchange, models: ShownModels): AnthropicModelList {
  const { limit, after_id: after, before_id: before } = queryOf(exchange, AnthropicModelQuery);
  const data = models.list(principalOf(exchange), false).map(toAnthropic);
  const ids = data.map(({ id }) => id);
  const end = before === undefined ? data.length : indexInList(before, ids, 'before_id');
  const behind = after === undefined ? 0 : indexInList(after, ids, 'after_id') + 1;
  const begin = before === undefined ? behind : Math.max(0, end - limit);
  const page = data.slice(begin, Math.min(end, begin + limit));
  return {
    data: page,
    has_more: before === undefined ? begin + page.length < data.length : begin > 0,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

const toAnthropic = ({ id, created, context_length, max_output_tokens }: Model): AnthropicModel => ({
  type: 'model',
  id,
  display_name: id,
  created_at: rfc3339(created * 1_000),
  max_input_tokens: context_length,
  max_tokens: max_output_tokens,
});
