import { tablesOf } from '../../kernel/statements.ts';
import type { ApiKeySchema } from './api-key.ts';
import type { ManagementKeyEntity } from './management/entities.ts';

export const tables = tablesOf<typeof ApiKeySchema | typeof ManagementKeyEntity>();
