import type { DeploymentHealth } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { count, duration, moment } from '../format.ts';
import { Badge, Empty, Failure, Loading, PageHead } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const REFRESH_MS = 3_000;
const MOST = 200;
/** Of circuits: closed is good. */
const STATES = { closed: ['asked', 'good'], open: ['left aside', 'bad'], half_open: ['being tried', 'wait'] } as const;

const COLUMNS: readonly Column<DeploymentHealth>[] = [
  { name: 'Deployment', cell: ({ deployment }) => deployment },
  { name: 'Model', cell: ({ model }) => model },
  {
    name: 'State',
    cell: ({ state }) => {
      const [word, tone] = STATES[state];
      return <Badge state={word} tone={tone} />;
    },
  },
  { name: 'Calls, last minute', cell: ({ recent_calls: calls }) => count(calls), isFigure: true, isSecondary: true },
  { name: 'Failed', cell: ({ recent_failures: failures }) => count(failures), isFigure: true },
  { name: 'First byte', cell: ({ latency_ms: ms }) => (ms === null ? '–' : duration(ms)), isFigure: true },
  {
    name: 'Last failure',
    cell: ({ last_failure: last }) =>
      last ? `${last.kind.replaceAll('_', ' ')}${last.status === null ? '' : `, HTTP ${last.status}`}, ${moment(last.at)}` : '–',
    isSecondary: true,
  },
];

export function Providers() {
  const { data, error } = useQuery({
    queryKey: ['deployments'],
    queryFn: async () => tallygate.deployments.list({ limit: MOST }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <PageHead title="Providers">Every deployment of every model, as this gateway sees it now.</PageHead>
      {error && <Failure error={error} />}
      {!error && !data && <Loading />}
      {data && data.data.length > 0 && (
        <Table label="Deployments" rows={data.data} columns={COLUMNS} idOf={({ deployment, model }) => `${deployment} ${model}`} />
      )}
      {data?.data.length === 0 && (
        <Empty title="No providers yet">
          Start the gateway with a provider’s key in its environment, <code>OPENAI_API_KEY</code> for one: live keys reach its models then.
        </Empty>
      )}
    </>
  );
}
