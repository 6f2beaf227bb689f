/**
 * A price that is not charged yet can be replaced by another one of the same moment: the one that was written last is charged. What was written
 * stays, as before.
 */
export const replacedPricesMigration = {
  name: '0092-replaced-prices',
  up: `
alter table catalog_prices drop constraint catalog_prices_model_id_effective_from_key;
-- The order in which prices were written.
alter table catalog_prices add column place bigint generated always as identity;
create index catalog_prices_by_moment on catalog_prices (model_id, effective_from, place);
`,
};
