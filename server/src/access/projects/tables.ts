import { tablesOf } from '../../kernel/statements.ts';
import type { ProjectEntity } from './entities.ts';

export const tables = tablesOf<typeof ProjectEntity>();
