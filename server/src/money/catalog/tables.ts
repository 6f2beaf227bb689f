import { tablesOf } from '../../kernel/statements.ts';
import type { DeclarationTable } from '../../receipts/index.ts';
import type { CatalogDiscovery, CatalogList, CatalogModel, CatalogPrice, CatalogRevision } from './entities.ts';

export const tables = tablesOf<
  typeof CatalogDiscovery | typeof CatalogList | typeof CatalogModel | typeof CatalogPrice | typeof CatalogRevision | DeclarationTable
>();
