import type { AccountTable, UserTable } from '../access/identity/index.ts';
import { tablesOf } from '../kernel/statements.ts';
import type { IdempotencyKey, SchemaMigration } from './entities.ts';

export const tables = tablesOf<typeof IdempotencyKey | typeof SchemaMigration | AccountTable | UserTable>();
