import type { contract, DiscoveryReport, Model } from '@tallygate/contract';
import { actorOf, originOf } from '../../audit/index.ts';
import type { Handlers, Principal } from '../../http/index.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { By, CatalogAdministration } from './administration.ts';
import type { Catalog } from './catalog.ts';
import type { CatalogModel } from './model.ts';
import { priceOf, pricingToWire } from './price.ts';
import { modelNotFound } from './refusals.ts';

interface CatalogRoutesDeps {
  readonly catalog: Catalog;
  readonly administration: CatalogAdministration;
  /** Whether a live key would reach a provider that serves it. */
  readonly isServed: (model: CatalogModel) => boolean;
  readonly discover: () => Promise<DiscoveryReport>;
  readonly clock?: Clock;
}

export function catalogRoutes({
  catalog,
  administration,
  isServed,
  discover,
  clock = systemClock,
}: CatalogRoutesDeps): Handlers<typeof contract.catalog> {
  const toWire = (model: CatalogModel): Model => model.wireAt(clock.now());
  const shownTo = (principal: Principal): readonly CatalogModel[] => {
    const now = clock.now();
    const isOffered = (model: CatalogModel) => model.priceAt(now) !== undefined && (model.retiredFrom ?? Infinity) > now;
    return principal.kind === 'key' && principal.livemode
      ? catalog.all.filter((model) => isOffered(model) && isServed(model))
      : catalog.models.filter(isOffered);
  };
  return {
    listModels: async ({ principal, query }) => ({
      status: 200,
      body: { object: 'list', data: (query.all === 'true' ? catalog.all : shownTo(principal)).map(toWire) },
    }),
    listPrices: async () => ({
      status: 200,
      body: { object: 'list', data: [...catalog.published] },
    }),
    getModel: async ({ params }) => {
      const model = catalog.find(params.model);
      if (!model) throw modelNotFound(params.model, catalog);
      return { status: 200, body: toWire(model) };
    },
    setModel: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: toWire(await administration.define(params.model, body, byOf(principal, call))),
    }),
    setModelPrice: async ({ principal, params, body, ...call }) => {
      const { model, written } = await administration.price(params.model, body, byOf(principal, call));
      return { status: 201, body: { id: model.id, pricing: pricingToWire(priceOf(written), written) } };
    },
    removeModel: async ({ principal, params, ...call }) => {
      await administration.remove(params.model, byOf(principal, call));
      return { status: 204, body: undefined };
    },
    discoverModels: async () => ({ status: 200, body: await discover() }),
  };
}

const byOf = (principal: Principal, call: Parameters<typeof originOf>[0]): By => ({
  accountId: principal.accountId,
  actor: actorOf(principal),
  origin: originOf(call),
});
