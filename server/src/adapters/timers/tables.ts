import { tablesOf } from '../../kernel/statements.ts';
import type { TimerLease } from './entities.ts';

export const tables = tablesOf<typeof TimerLease>();
