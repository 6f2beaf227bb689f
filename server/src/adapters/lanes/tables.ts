import { tablesOf } from '../../kernel/statements.ts';
import type { GatewaySession, LaneEpoch } from './entities.ts';

export const tables = tablesOf<typeof GatewaySession | typeof LaneEpoch>();
