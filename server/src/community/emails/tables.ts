import { tablesOf } from '../../kernel/statements.ts';
import type { PersonTable } from '../people/index.ts';
import type { Email, EmailRecipient, EmailSecret, EmailTemplate } from './entities.ts';

export const tables = tablesOf<typeof Email | typeof EmailRecipient | typeof EmailSecret | typeof EmailTemplate | PersonTable>();
