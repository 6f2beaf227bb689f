import { tablesOf } from '../../kernel/statements.ts';
import type { Batch, BatchLine } from './entities.ts';

export const tables = tablesOf<typeof Batch | typeof BatchLine>();
