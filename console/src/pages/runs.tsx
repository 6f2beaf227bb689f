import type { Run } from '@tallygate/sdk';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { type Branch, treeOf } from '../run-tree.ts';
import { useMay } from '../session.ts';
import { Confirm } from '../ui/dialog.tsx';
import { LongTable } from '../ui/long-table.tsx';
import { Badge, CapBar, Empty, PageHead, Pending } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

export function StopRun({ run, onClose }: { run: Run; onClose: () => void }) {
  const client = useQueryClient();
  const stop = async (): Promise<void> => {
    await tallygate.runs.close(run.run_id, { livemode: run.livemode });
    await client.invalidateQueries({ queryKey: ['runs'] });
    await client.invalidateQueries({ queryKey: ['run', run.run_id] });
  };
  return (
    <Confirm title={`Stop ${run.run_id}?`} action="Stop the run" onConfirm={stop} onClose={onClose}>
      Its running requests and those of its child runs are cut off, and it makes no more. {usd(run.spent_usd)} are spent. This cannot be
      undone.
    </Confirm>
  );
}

/** From this depth on runs are shown no further to the right. */
const DEEPEST = 6;

const COLUMNS: readonly Column<Branch<Run>>[] = [
  {
    name: 'Run',
    cell: ({ run: { run_id: runId, parent_run_id: parent, state }, depth }) => (
      <span className="branch" style={{ paddingInlineStart: `${Math.min(depth, DEEPEST) * 1.2}rem` }}>
        {parent !== null && '↳ '}
        <Link to="/runs/$runId" params={{ runId }} className="cut" title={parent === null ? runId : `${runId}, child of ${parent}`}>
          {runId}
        </Link>{' '}
        <span className="narrow">{state !== 'active' && <Badge state={state} />}</span>
      </span>
    ),
  },
  { name: 'State', cell: ({ run: { state } }) => <Badge state={state} />, isSecondary: true },
  { name: 'Spent', cell: ({ run: { spent_usd: spent } }) => usd(spent), isFigure: true },
  { name: 'Ceiling', cell: ({ run: { ceiling_usd: ceiling } }) => (ceiling === null ? '–' : usd(ceiling)), isFigure: true },
  { name: 'Of the ceiling', cell: ({ run }) => <CapBar spent={run.spent_usd} held="0" cap={run.ceiling_usd} />, isSecondary: true },
  { name: 'Requests', cell: ({ run: { requests } }) => count(requests), isFigure: true, isSecondary: true },
  { name: 'Last request', cell: ({ run: { last_request_at: at } }) => moment(at), isSecondary: true },
];

const stopOf = (onStop: (run: Run) => void): Column<Branch<Run>> => ({
  name: 'Stop',
  isAction: true,
  cell: ({ run }) =>
    run.state === 'closed' ? null : (
      <button type="button" onClick={() => onStop(run)}>
        Stop
      </button>
    ),
});

export function Runs() {
  const livemode = useLivemode();
  const mayStop = useMay('use models');
  const [stopped, setStopped] = useState<Run>();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['runs', livemode],
    queryFn: async ({ pageParam }) => tallygate.runs.list({ livemode, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const rows = treeOf(data?.pages.flatMap((page) => page.data) ?? []);
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <PageHead title="Agent runs">A run has a ceiling for all of its requests together, and can be stopped here while it works.</PageHead>
      {!data && <Pending error={error} />}
      {rows.length > 0 && (
        <LongTable
          label="Agent runs, the newest first, with their child runs"
          rows={rows}
          columns={mayStop ? [...COLUMNS, stopOf(setStopped)] : COLUMNS}
          idOf={({ run }) => run.run_id}
          onEnd={more}
        />
      )}
      {data && rows.length === 0 && (
        <Empty title="No runs yet">
          Send <code>X-Agent-Run-Id</code> and <code>X-Agent-Max-Budget</code> with the first request of a run: its ceiling holds for all
          that follow. Runs of the other mode are under {livemode ? 'Test' : 'Live'}, above.
        </Empty>
      )}
      {stopped && <StopRun run={stopped} onClose={() => setStopped(undefined)} />}
    </>
  );
}
