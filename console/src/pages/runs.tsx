import type { Run } from '@tallygate/sdk';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { useMay } from '../session.ts';
import { Confirm } from '../ui/dialog.tsx';
import { LongTable } from '../ui/long-table.tsx';
import { Badge, CapBar, Empty, Failure, Loading, PageHead } from '../ui/parts.tsx';
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

const COLUMNS: readonly Column<Run>[] = [
  {
    name: 'Run',
    cell: ({ run_id: runId, parent_run_id: parent }) => (
      <Link to="/runs/$runId" params={{ runId }}>
        {parent === null ? runId : `↳ ${runId}`}
      </Link>
    ),
  },
  { name: 'State', cell: ({ state }) => <Badge state={state} /> },
  { name: 'Spent', cell: ({ spent_usd: spent }) => usd(spent), isFigure: true },
  { name: 'Ceiling', cell: ({ ceiling_usd: ceiling }) => (ceiling === null ? '–' : usd(ceiling)), isFigure: true },
  { name: 'Of the ceiling', cell: (run) => <CapBar spent={run.spent_usd} held="0" cap={run.ceiling_usd} />, isSecondary: true },
  { name: 'Requests', cell: ({ requests }) => count(requests), isFigure: true, isSecondary: true },
  { name: 'Last request', cell: ({ last_request_at: at }) => moment(at), isSecondary: true },
];

const stopOf = (onStop: (run: Run) => void): Column<Run> => ({
  name: 'Stop',
  cell: (run) =>
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
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <PageHead title="Agent runs">A run has a ceiling for all of its requests together, and can be stopped here while it works.</PageHead>
      {error && <Failure error={error} />}
      {!error && !data && <Loading />}
      {rows.length > 0 && (
        <LongTable
          label="Agent runs, the newest first"
          rows={rows}
          columns={mayStop ? [...COLUMNS, stopOf(setStopped)] : COLUMNS}
          idOf={({ run_id: id }) => id}
          onEnd={more}
        />
      )}
      {data && rows.length === 0 && (
        <Empty title="No runs yet">
          Send <code>X-Agent-Run-Id</code> and <code>X-Agent-Max-Budget</code> with the first request of a run: its ceiling holds for all
          that follow.
        </Empty>
      )}
      {stopped && <StopRun run={stopped} onClose={() => setStopped(undefined)} />}
    </>
  );
}
