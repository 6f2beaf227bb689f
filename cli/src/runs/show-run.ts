import type { Run } from '@tallygate/sdk';
import type { Column } from '../print.ts';

export const RUN_LINES: readonly Column<Run>[] = [
  { title: 'Id', of: ({ run_id }) => run_id },
  { title: 'State', of: ({ state }) => state },
  { title: 'Parent', of: ({ parent_run_id }) => parent_run_id },
  { title: 'Ceiling', of: ({ ceiling_usd }) => ceiling_usd },
  { title: 'Spent', of: ({ spent_usd }) => spent_usd },
  { title: 'Requests', of: ({ requests }) => requests },
  { title: 'Calls left', of: ({ calls_remaining }) => calls_remaining },
  { title: 'Deadline', of: ({ deadline }) => deadline },
  { title: 'Started', of: ({ started_at }) => started_at },
  { title: 'Closed', of: ({ closed_at }) => closed_at },
];
