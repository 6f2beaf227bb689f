import { tablesOf } from '../../kernel/statements.ts';
import type { ApiKeySchema } from './api-key.ts';

export const tables = tablesOf<typeof ApiKeySchema>();
