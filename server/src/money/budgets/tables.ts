import { tablesOf } from '../../kernel/statements.ts';
import type { KeyBudgetAlert, KeyBudgetChange, KeyBudgetRefusal } from './entities.ts';

export const tables = tablesOf<typeof KeyBudgetAlert | typeof KeyBudgetChange | typeof KeyBudgetRefusal>();
