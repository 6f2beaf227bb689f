import type { UserTable } from '../../access/identity/index.ts';
import { tablesOf } from '../../kernel/statements.ts';
import type { ClientRequest, ClientRequestEntry } from './entities.ts';

export const tables = tablesOf<typeof ClientRequest | typeof ClientRequestEntry | UserTable>();
