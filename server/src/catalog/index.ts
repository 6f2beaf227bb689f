export { type Catalog, type CatalogModel, loadCatalog, type Price } from './catalog.ts';
export { type Cost, costBound, costOf } from './cost.ts';
export { catalogRoutes, modelNotFound } from './routes.ts';
