import type { AccountTable } from '../../access/identity/index.ts';
import { tablesOf } from '../../kernel/statements.ts';
import type { SpendingLimit } from './entities.ts';

export const tables = tablesOf<typeof SpendingLimit | AccountTable>();
