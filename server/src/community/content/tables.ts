import { tablesOf } from '../../kernel/statements.ts';
import type { Content } from './entities.ts';

export const tables = tablesOf<typeof Content>();
