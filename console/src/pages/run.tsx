import type { RunDetail, RunStep } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, duration, moment, usd } from '../format.ts';
import { useLivemode, useSetLivemode } from '../mode.ts';
import { useMay } from '../session.ts';
import { At, Badge, CapBar, Empty, Figure, Figures, Loading, PageHead, PagePending, Panel, RequestLink } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { StopRun } from './runs.tsx';

const STEPS: readonly Column<RunStep>[] = [
  { name: 'Started', cell: ({ started_at: at }) => <At at={at} /> },
  { name: 'Request', cell: ({ request_id: id }) => <RequestLink id={id} />, isSecondary: true },
  {
    name: 'Model',
    cell: ({ request_id: requestId, model_served: model, outcome }) => (
      <>
        <Link to="/requests/$requestId" params={{ requestId }}>
          {model}
        </Link>{' '}
        <span className="narrow">{outcome !== 'completed' && <Badge state={outcome} />}</span>
      </>
    ),
  },
  { name: 'Outcome', cell: ({ outcome }) => <Badge state={outcome} />, isSecondary: true },
  {
    name: 'Took',
    cell: (step) => duration(Date.parse(step.completed_at) - Date.parse(step.started_at)),
    isFigure: true,
    isSecondary: true,
  },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
];

function Detail({ run }: { run: RunDetail }) {
  const mayStop = useMay('use models');
  const [isStopping, setStopping] = useState(false);
  const stop = mayStop && run.state !== 'closed' && (
    <button type="button" className="danger" onClick={() => setStopping(true)}>
      Stop the run
    </button>
  );
  return (
    <>
      <PageHead title={run.run_id} aside={stop}>
        <Badge state={run.state} />{' '}
        {run.parent_run_id !== null && (
          <Link to="/runs/$runId" params={{ runId: run.parent_run_id }}>
            child of {run.parent_run_id}
          </Link>
        )}
      </PageHead>
      <Figures>
        <Figure label="Spent" value={usd(run.spent_usd)} note={<CapBar spent={run.spent_usd} held="0" cap={run.ceiling_usd} />} />
        <Figure label="Ceiling" value={run.ceiling_usd === null ? 'none' : usd(run.ceiling_usd)} />
        <Figure
          label="Requests"
          value={count(run.requests)}
          note={run.calls_remaining === null ? undefined : `${run.calls_remaining} left`}
        />
        <Figure label="Deadline" value={moment(run.deadline)} />
      </Figures>
      <Panel title="Steps">
        {run.steps.data.length > 0 ? (
          <Table label="Steps of the run" rows={run.steps.data} columns={STEPS} idOf={({ receipt_id: id }) => id} />
        ) : (
          <Empty title="No steps yet">They appear as the run’s requests are settled.</Empty>
        )}
      </Panel>
      {isStopping && <StopRun run={run} onClose={() => setStopping(false)} />}
    </>
  );
}

const useRun = (runId: string, livemode: boolean, isWanted = true) =>
  useQuery({
    queryKey: ['run', runId, livemode],
    queryFn: () => tallygate.runs.get(runId, { livemode }),
    enabled: isWanted,
  });

export function RunPage() {
  const { runId } = useParams({ from: '/frame/runs/$runId' });
  const livemode = useLivemode();
  const setLivemode = useSetLivemode();
  const { data, error } = useRun(runId, livemode);
  // Links name no mode: the run may be one of the other.
  const other = useRun(runId, !livemode, error !== null);
  if (data) return <Detail run={data} />;
  if (!error || other.isLoading) return <Loading />;
  if (!other.data) return <PagePending error={error} />;
  const mode = livemode ? 'test' : 'live';
  return (
    <>
      <PageHead title={runId} />
      <Empty title={`A run of ${mode} requests`}>
        <button type="button" onClick={() => setLivemode(!livemode)}>
          Show {mode} requests
        </button>
      </Empty>
    </>
  );
}
