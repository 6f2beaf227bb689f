import type { Migration } from '../migrate.ts';

/** Extensions and functions that every slice's tables may rely on: none so far. The queue keeps its own schema, `bullmq`. */
export const foundation: Migration = { name: '0001-foundation', up: 'select 1' };
