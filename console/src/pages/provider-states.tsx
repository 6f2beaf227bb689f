import type { DeploymentHealth } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { count } from '../format.ts';
import { useMay } from '../session.ts';
import { Badge, Empty, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const REFRESH_MS = 10_000;
const MOST = 200;

interface ProviderState {
  readonly provider: string;
  readonly deployments: number;
  readonly asideModels: readonly string[];
  readonly calls: number;
  readonly failures: number;
}

/** Those with models that are not asked now come first. */
function byProvider(all: readonly DeploymentHealth[]): ProviderState[] {
  const groups = Map.groupBy(all, ({ provider }) => provider);
  return [...groups]
    .map(([provider, of]) => ({
      provider,
      deployments: of.length,
      asideModels: of.filter(({ state }) => state !== 'closed').map(({ model }) => model),
      calls: of.reduce((sum, one) => sum + one.recent_calls, 0),
      failures: of.reduce((sum, one) => sum + one.recent_failures, 0),
    }))
    .toSorted((a, b) => b.asideModels.length - a.asideModels.length || a.provider.localeCompare(b.provider));
}

const COLUMNS: readonly Column<ProviderState>[] = [
  { name: 'Provider', cell: ({ provider }) => provider },
  {
    name: 'State',
    cell: ({ deployments, asideModels: aside }) => {
      if (aside.length === 0) return <Badge state="asked" tone="good" />;
      return <Badge state={`${aside.length} of ${deployments} left aside`} tone={aside.length === deployments ? 'bad' : 'wait'} />;
    },
  },
  { name: 'Left aside', cell: ({ asideModels: aside }) => aside.join(', ') || '–', isSecondary: true },
  { name: 'Calls, last minute', cell: ({ calls }) => count(calls), isFigure: true, isSecondary: true },
  { name: 'Failed', cell: ({ failures }) => count(failures), isFigure: true },
];

function States() {
  const { data, error } = useQuery({
    queryKey: ['deployments'],
    queryFn: async () => tallygate.deployments.list({ limit: MOST }),
    refetchInterval: REFRESH_MS,
  });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0) return <Empty title="No providers yet">Test keys are answered by the sandbox alone.</Empty>;
  return <Table label="Providers" rows={byProvider(data.data)} columns={COLUMNS} idOf={({ provider }) => provider} />;
}

/** How the providers are doing, for those who run the gateway. */
export function ProviderStates() {
  const runsGateway = useMay('run the gateway');
  if (!runsGateway) return null;
  return (
    <Panel title="Providers" aside={<Link to="/providers">All deployments</Link>}>
      <States />
    </Panel>
  );
}
