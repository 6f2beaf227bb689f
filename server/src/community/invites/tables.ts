import { tablesOf } from '../../kernel/statements.ts';
import type { Invite, InviteActivation, InviteBatch } from './entities.ts';

export const tables = tablesOf<typeof Invite | typeof InviteActivation | typeof InviteBatch>();
