import type { contract, DiscoveryReport, Model } from '@tallygate/contract';
import { actorOf, originOf } from '../../audit/index.ts';
import type { Handlers, Principal } from '../../http/index.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { By, CatalogAdministration } from './administration.ts';
import type { Catalog } from './catalog.ts';
import type { CatalogModel } from './model.ts';
import { priceOf, pricingToWire } from './price.ts';
import { modelNotFound } from './refusals.ts';

/** The models as callers see them. */
export interface ShownModels {
  /** @param all the whole catalogue, unpriced and unserved models too */
  list(principal: Principal, all: boolean): Model[];
  /** @throws Problem `model_not_found` */
  get(name: string): Model;
}

interface ShownModelsDeps {
  readonly catalog: Catalog;
  /** Whether a live key would reach a provider that serves it. */
  readonly isServed: (model: CatalogModel) => boolean;
  readonly clock?: Clock;
}

export function createShownModels({ catalog, isServed, clock = systemClock }: ShownModelsDeps): ShownModels {
  const toWire = (model: CatalogModel): Model => model.wireAt(clock.now());
  const shownTo = (principal: Principal): readonly CatalogModel[] => {
    const now = clock.now();
    const isOffered = (model: CatalogModel) => model.priceAt(now) !== undefined && (model.retiredFrom ?? Infinity) > now;
    return principal.kind === 'key' && principal.livemode
      ? catalog.all.filter((model) => isOffered(model) && isServed(model))
      : catalog.models.filter(isOffered);
  };
  return {
    list: (principal, all) => (all ? catalog.all : shownTo(principal)).map(toWire),
    get(name) {
      const model = catalog.find(name);
      if (!model) throw modelNotFound(name, catalog);
      return toWire(model);
    },
  };
}

interface CatalogRoutesDeps {
  readonly catalog: Catalog;
  readonly shown: ShownModels;
  readonly administration: CatalogAdministration;
  readonly discover: () => Promise<DiscoveryReport>;
  readonly clock?: Clock;
}

export function catalogRoutes({
  catalog,
  shown,
  administration,
  discover,
  clock = systemClock,
}: CatalogRoutesDeps): Handlers<typeof contract.catalog> {
  return {
    listModels: async ({ principal, query }) => ({
      status: 200,
      body: { object: 'list', data: shown.list(principal, query.all === 'true') },
    }),
    listPrices: async () => ({
      status: 200,
      body: { object: 'list', data: [...catalog.published] },
    }),
    getModel: async ({ params }) => ({ status: 200, body: shown.get(params.model) }),
    setModel: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: (await administration.define(params.model, body, byOf(principal, call))).wireAt(clock.now()),
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
