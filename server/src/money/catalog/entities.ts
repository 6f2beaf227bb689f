import { defineEntity, p } from '@mikro-orm/core';
import type { ModelDefinition, PriceTerms } from '@tallygate/contract';
import type { GivenPrice } from './entry.ts';

export const CatalogDiscovery = defineEntity({
  name: 'CatalogDiscovery',
  tableName: 'catalog_discoveries',
  properties: {
    provider: p.text().primary(),
    baseUrl: p.text().primary(),
    names: p.array<string>().columnType('text[]'),
    foundAt: p.datetime(),
  },
});

export const CatalogList = defineEntity({
  name: 'CatalogList',
  tableName: 'catalog_lists',
  properties: {
    source: p.enum(['shipped', 'file']).primary(),
    digest: p.text(),
    edition: p.text(),
  },
});

export const CatalogModel = defineEntity({
  name: 'CatalogModel',
  tableName: 'catalog_models',
  properties: {
    id: p.text().primary(),
    source: p.enum(['shipped', 'file', 'admin', 'discovery']).primary(),
    definition: p.json<ModelDefinition>(),
    stated: p.json<readonly GivenPrice[]>().defaultRaw("'[]'"),
  },
});

export const CatalogPrice = defineEntity({
  name: 'CatalogPrice',
  tableName: 'catalog_prices',
  properties: {
    modelId: p.text().primary(),
    version: p.text().primary(),
    source: p.enum(['shipped', 'file', 'admin']),
    cited: p.text().nullable(),
    terms: p.json<PriceTerms>(),
    effectiveFrom: p.datetime(),
    givenAt: p.datetime().defaultRaw('now()'),
    place: p.bigint('bigint').columnType('bigint').generated('identity').autoincrement(),
  },
});

export const CatalogRevision = defineEntity({
  name: 'CatalogRevision',
  tableName: 'catalog_revision',
  properties: {
    revision: p.bigint('bigint').autoincrement(false).primary(),
  },
});
