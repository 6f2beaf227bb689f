import { tablesOf } from '../kernel/statements.ts';
import type { ArchivedMonth, ArchivePiece } from './entities.ts';

export const tables = tablesOf<typeof ArchivePiece | typeof ArchivedMonth>();
