/** Its one row has a key, as every row has. */
export const catalogRevisionKeyMigration = {
  name: '0105-catalog-revision-key',
  up: 'alter table catalog_revision add primary key (revision)',
};
