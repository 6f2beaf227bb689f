import type { contract, ModelList } from '@tallygate/contract';
import type { Handlers } from '../identity/index.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import type { Catalog } from './catalog.ts';

export function catalogRoutes(catalog: Catalog, clock: Clock = systemClock): Handlers<typeof contract.catalog> {
  const list = (): ModelList => ({ object: 'list', data: catalog.models.map((model) => model.wireAt(clock.now())) });
  return {
    listModels: async () => ({ status: 200, body: list() }),
    listPrices: async () => ({
      status: 200,
      body: {
        object: 'list',
        data: [...catalog.models, ...catalog.beside].flatMap(({ id, pricings }) => pricings.map((pricing) => ({ id, pricing }))),
      },
    }),
    getModel: async ({ params }) => {
      const model = catalog.find(params.model);
      if (!model) throw modelNotFound(params.model);
      return { status: 200, body: model.wireAt(clock.now()) };
    },
  };
}

export const modelNotFound = (id: string, param = 'model'): Problem =>
  new Problem('model_not_found', `There is no model "${id.slice(0, 100)}" in the catalogue: GET /v1/models lists the models.`, {
    param,
  });
