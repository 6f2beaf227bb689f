import { tablesOf } from '../kernel/statements.ts';
import type { AuditLogEntry } from './entities.ts';

export const tables = tablesOf<typeof AuditLogEntry>();
