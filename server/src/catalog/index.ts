export { type Catalog, type CatalogModel, loadCatalog, type Price, type UnitPrices } from './catalog.ts';
export { type Cost, costBound, costOf, type UsageBound } from './cost.ts';
export { catalogRoutes, modelNotFound } from './routes.ts';
