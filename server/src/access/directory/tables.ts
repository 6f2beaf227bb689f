import { tablesOf } from '../../kernel/statements.ts';
import type { DirectoryGroup, DirectoryGroupMember, DirectoryGroupProject, DirectoryUser } from './entities.ts';

export const tables = tablesOf<typeof DirectoryUser | typeof DirectoryGroup | typeof DirectoryGroupMember | typeof DirectoryGroupProject>();
