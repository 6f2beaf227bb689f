import type { ModelPricing } from '@tallygate/contract';
import type { ListedModel } from './entry.ts';
import { type CatalogModel, type ModelRecord, modelOf, OWN } from './model.ts';
import { beginsWithAnother, type Names, namesOf } from './names.ts';
import { type Price, PriceHistory, type WrittenPrice } from './price.ts';
import { shippedList } from './shipped.ts';

export interface Catalog extends Names {
  /** The model of an id or of any other of its names. */
  find(name: string): CatalogModel | undefined;
  /** Those that are listed unless more is asked for. */
  readonly models: readonly CatalogModel[];
  readonly all: readonly CatalogModel[];
  /** Those that are configured, by name. */
  readonly providers: ReadonlySet<string>;
  /** Every price that was, is or will be charged, the newest of a model first: also of models that are in the catalogue no longer. */
  readonly published: readonly PublishedPrice[];
  /** What the model of that id, and no other name, cost at a time: also where it is in the catalogue no longer. */
  pricedAt(id: string, epochMs: number): Price | undefined;
}

interface PublishedPrice {
  readonly id: string;
  readonly pricing: ModelPricing;
}

/** A model that is in the catalogue no longer, and was charged. */
export interface FormerModel {
  readonly id: string;
  readonly prices: readonly WrittenPrice[];
}

interface Around {
  readonly former?: readonly FormerModel[];
  /** Those that are configured. */
  readonly providers?: ReadonlySet<string>;
}

/** The catalogue of a moment. */
export function catalogOf(records: readonly ModelRecord[], { former = [], providers = new Set() }: Around = {}): Catalog {
  // Discovered before the provider was configured that its id begins with: the id means a model at that provider now.
  const isHidden = ({ id, sources: [source], definition: { provider = OWN } }: ModelRecord) =>
    source === 'discovery' && beginsWithAnother(providers, provider, id);
  const all = records.filter((record) => !isHidden(record)).map(modelOf);
  const names = namesOf(all);
  const gone = [...former, ...records.filter(isHidden)].map(({ id, prices }) => ({ id, history: new PriceHistory(prices) }));
  const histories = new Map([...all, ...gone].map(({ id, history }) => [id, history]));
  return {
    ...names,
    models: all.filter(({ isAdvertised }) => isAdvertised),
    all,
    providers,
    find: (name) => names.resolve(name)?.model,
    get published() {
      return [...histories].flatMap(([id, { pricings }]) => pricings.map((pricing) => ({ id, pricing })));
    },
    pricedAt: (id, epochMs) => histories.get(id)?.at(epochMs),
  };
}

let shippedCatalog: Catalog | undefined;

/** The catalogue as a new gateway has it, with every price from its own day on: from the shipped list, which is read once, or from another. */
export function loadCatalog(models?: readonly ListedModel[], providers?: ReadonlySet<string>): Catalog {
  if (models) return catalogOf(models.map(recordOf), providers && { providers });
  shippedCatalog ??= loadCatalog(shippedList().models());
  return shippedCatalog;
}

function recordOf({ id, definition, prices }: ListedModel): ModelRecord {
  const written = prices.map(({ version = '1', effective_from: from = '2026-01-01', ...price }) => ({
    ...price,
    ...{ version, effectiveFrom: Date.parse(from), source: 'shipped' },
  }));
  return { id, sources: ['shipped'], definition, prices: written };
}
