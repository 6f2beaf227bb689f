import type { DeploymentHealth, DiscoveryReport } from '@tallygate/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { count, duration, moment, short } from '../format.ts';
import { Badge, Empty, Failure, PageHead, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const REFRESH_MS = 3_000;
const MOST = 200;
/** Of circuits: closed is good. */
const STATES = { closed: ['asked', 'good'], open: ['left aside', 'bad'], half_open: ['being tried', 'wait'] } as const;

/** The limits of a provider’s key: they hold for all of its models together. */
function wordsOf(limits: DeploymentHealth['limits']): string {
  if (!limits) return 'no limit here';
  const { requests_per_minute: requests, tokens_per_minute: tokens, concurrency } = limits;
  const words = [
    requests !== null && `${count(requests)} requests a minute`,
    tokens !== null && `${short(tokens)} tokens a minute`,
    concurrency !== null && `${count(concurrency)} at once`,
  ];
  return words.filter(Boolean).join(', ');
}

const COLUMNS: readonly Column<DeploymentHealth>[] = [
  { name: 'Deployment', cell: ({ deployment }) => deployment },
  {
    name: 'Model',
    cell: ({ model }) => (
      <Link to="/models/$modelId" params={{ modelId: model }}>
        {model}
      </Link>
    ),
  },
  {
    name: 'State',
    cell: ({ state, limits }) => {
      if (limits && limits.free_in_ms > 0) return <Badge state="at its limit" tone="wait" />;
      const [word, tone] = STATES[state];
      return <Badge state={word} tone={tone} />;
    },
  },
  { name: 'May be asked', cell: ({ limits }) => wordsOf(limits), isSecondary: true },
  { name: 'Calls, last minute', cell: ({ recent_calls: calls }) => count(calls), isFigure: true, isSecondary: true },
  { name: 'Failed', cell: ({ recent_failures: failures }) => count(failures), isFigure: true, isSecondary: true },
  { name: 'First byte', cell: ({ latency_ms: ms }) => (ms === null ? '–' : duration(ms)), isFigure: true },
  {
    name: 'Last failure',
    cell: ({ last_failure: last }) =>
      last ? `${last.kind.replaceAll('_', ' ')}${last.status === null ? '' : `, HTTP ${last.status}`}, ${moment(last.at)}` : '–',
    isSecondary: true,
  },
  {
    name: 'Test call',
    isAction: true,
    cell: ({ model, provider }) => (
      <Link to="/playground" search={{ model, provider }} className="button">
        Call it
      </Link>
    ),
  },
];

const FOUND: readonly Column<DiscoveryReport['providers'][number]>[] = [
  { name: 'Provider', cell: ({ provider }) => provider },
  { name: 'Answer', cell: ({ error }) => <Badge state={error === null ? 'answered' : 'failed'} tone={error === null ? 'good' : 'bad'} /> },
  { name: 'Models', cell: ({ found }) => count(found.length), isFigure: true },
  { name: 'Without a price', cell: ({ without_price: without }) => without.join(', ') || '–', isSecondary: true },
  { name: 'Why', cell: ({ error }) => error ?? '–', isSecondary: true },
];

function Discovered({ report }: { report: DiscoveryReport }) {
  if (report.providers.length === 0)
    return (
      <Empty title="No provider is asked for its models">
        Those with <code>"discover": true</code> in the providers file are. A test call reaches the others.
      </Empty>
    );
  return <Table label="What providers answered" rows={report.providers} columns={FOUND} idOf={({ provider }) => provider} />;
}

export function Providers() {
  const discovery = useMutation({ mutationFn: async () => tallygate.models.discover() });
  const { data, error } = useQuery({
    queryKey: ['deployments'],
    queryFn: async () => tallygate.deployments.list({ limit: MOST }),
    refetchInterval: REFRESH_MS,
  });
  const ask = (
    <button type="button" disabled={discovery.isPending} aria-busy={discovery.isPending} onClick={() => discovery.mutate()}>
      Ask for their models
    </button>
  );
  return (
    <>
      <PageHead title="Providers" aside={ask}>
        Every deployment of every model, as this gateway sees it now.
      </PageHead>
      {discovery.error && <Failure error={discovery.error} />}
      {discovery.data && (
        <Panel title="What providers answered">
          <Discovered report={discovery.data} />
        </Panel>
      )}
      {!data && <Pending error={error} />}
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
