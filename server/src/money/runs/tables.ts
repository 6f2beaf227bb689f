import { tablesOf } from '../../kernel/statements.ts';
import type { AgentRun, AgentRunBound } from './entities.ts';

export const tables = tablesOf<typeof AgentRun | typeof AgentRunBound>();
