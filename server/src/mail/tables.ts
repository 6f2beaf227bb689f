import { tablesOf } from '../kernel/statements.ts';
import type { Mail, MailHandover } from './entities.ts';

export const tables = tablesOf<typeof Mail | typeof MailHandover>();
