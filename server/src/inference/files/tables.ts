import { tablesOf } from '../../kernel/statements.ts';
import type { FileBlob, FileStorage, StoredFile, Upload } from './entities.ts';

export const tables = tablesOf<typeof FileBlob | typeof FileStorage | typeof StoredFile | typeof Upload>();
