import { tablesOf } from '../../kernel/statements.ts';
import type { GatewaySession, LaneEpoch, UnfreedHold } from './entities.ts';

export const tables = tablesOf<typeof GatewaySession | typeof LaneEpoch | typeof UnfreedHold>();
