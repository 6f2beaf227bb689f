import { tablesOf } from '../../kernel/statements.ts';
import type { UserTable } from '../identity/index.ts';
import type { ProjectEntity, ProjectMemberEntity } from './entities.ts';

export const tables = tablesOf<typeof ProjectEntity | typeof ProjectMemberEntity | UserTable>();
