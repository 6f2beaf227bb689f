import type { AnchorResponse, InvoiceListItem, LoggedDeclaration, LogTimestamp } from '@tallygate/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { count, moment, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { messageOf } from '../query-client.ts';
import { Badge, Empty, Figure, Figures, PageHead, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const REFRESH_MS = 5_000;

/** The newest state of the log: a signed note whose lines are origin, size, root and signatures (C2SP tlog-checkpoint). */
async function fetchCheckpoint() {
  const text = await (await tallygate.receipts.checkpoint()).text();
  const [origin = '', size = '0', root = ''] = text.split('\n');
  const signers = [...text.matchAll(/^— (\S+) /gm)].map(([, name = '']) => name);
  return { text, origin, size: Number(size), root, signers };
}

function State() {
  const { data, error } = useQuery({ queryKey: ['checkpoint'], queryFn: fetchCheckpoint, refetchInterval: REFRESH_MS });
  const check = useMutation({ mutationFn: async () => tallygate.receipts.verifyCheckpoint((await fetchCheckpoint()).text) });
  if (!data) return <Pending error={error} />;
  const others = data.signers.filter((name) => name !== data.origin);
  return (
    <>
      <Figures>
        <Figure label="Entries" value={count(data.size)} />
        <Figure label="Witnesses that cosigned" value={others.length} note={others.join(', ') || 'none is configured'} />
      </Figures>
      <pre className="note-text">{data.text}</pre>
      <div className="form-actions">
        <button type="button" className="primary" disabled={check.isPending} onClick={() => check.mutate()}>
          Check it against what this browser has seen
        </button>
      </div>
      {check.error && <p className="failure">{messageOf(check.error)}</p>}
      {check.data && (
        <p role="status">
          {check.data.valid ? 'It is signed by the log, and of one history with the states that this browser has kept.' : check.data.reason}
        </p>
      )}
    </>
  );
}

const INVOICES: readonly Column<InvoiceListItem>[] = [
  { name: 'Month', cell: ({ month }) => month },
  { name: 'Receipts', cell: ({ receipts }) => count(receipts), isFigure: true },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
  { name: 'Covered by the plan', cell: ({ covered_usd: covered }) => usd(covered), isFigure: true, isSecondary: true },
  { name: 'Due', cell: ({ due_usd: due }) => usd(due), isFigure: true },
  { name: 'Entry', cell: ({ log_index: index }) => index ?? 'soon', isFigure: true },
];

function Invoices() {
  const livemode = useLivemode();
  const { data, error } = useQuery({ queryKey: ['log-invoices', livemode], queryFn: async () => tallygate.invoices.list({ livemode }) });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0) return <Empty title="No invoices yet">The first is an entry of the log when the month is over.</Empty>;
  return <Table label="Invoices in the log" rows={data.data} columns={INVOICES} idOf={({ id }) => id} />;
}

function subjectOf(declaration: LoggedDeclaration['declaration']): string {
  if (declaration.kind === 'price') return `${declaration.model}, ${declaration.price_version}`;
  return declaration.kind === 'policy' ? declaration.log : `${declaration.purpose.replaceAll('_', ' ')} ${declaration.kid}`;
}

const DECLARATIONS: readonly Column<LoggedDeclaration>[] = [
  { name: 'Entry', cell: ({ index }) => index, isFigure: true },
  { name: 'Declares', cell: ({ declaration }) => declaration.kind.replaceAll('_', ' ') },
  { name: 'Of', cell: ({ declaration }) => subjectOf(declaration) },
  { name: 'At', cell: ({ declaration }) => moment(declaration.declared_at), isSecondary: true },
];

function Declarations() {
  const { data, error } = useQuery({ queryKey: ['declarations'], queryFn: async () => tallygate.receipts.declarations({ limit: 20 }) });
  if (!data) return <Pending error={error} />;
  return <Table label="Prices and keys that were declared" rows={data.data} columns={DECLARATIONS} idOf={({ digest }) => digest} />;
}

const STATES = { logged: 'wait', submitted: 'wait', included: 'wait', finalized: 'good', superseded: 'quiet' } as const;

const ANCHORS: readonly Column<AnchorResponse>[] = [
  { name: 'Entries', cell: ({ tree_size: size }) => count(size), isFigure: true },
  { name: 'State', cell: ({ state }) => <Badge state={state} tone={STATES[state]} /> },
  { name: 'Chain', cell: ({ chain_id: chain }) => chain },
  { name: 'Block', cell: ({ block_number: block }) => block ?? '–', isSecondary: true },
  { name: 'Transaction', cell: ({ transaction_hash: hash }) => <span className="cut">{hash ?? '–'}</span>, isSecondary: true },
];

const TIMESTAMPS: readonly Column<LogTimestamp>[] = [
  { name: 'Entries', cell: ({ tree_size: size }) => count(size), isFigure: true },
  { name: 'Time', cell: ({ time }) => moment(time) },
  { name: 'Authority', cell: ({ authority }) => authority, isSecondary: true },
];

/** Where others hold a state of the log: public chains, and authorities that have stamped it with the time. */
function Anchors() {
  const anchors = useQuery({ queryKey: ['anchors'], queryFn: async () => tallygate.anchors.list({ limit: 20 }) });
  const stamps = useQuery({ queryKey: ['timestamps'], queryFn: async () => tallygate.anchors.timestamps({ limit: 20 }) });
  if (!anchors.data || !stamps.data) return <Pending error={anchors.error ?? stamps.error} />;
  const [chained, stamped] = [anchors.data.data, stamps.data.data];
  if (chained.length + stamped.length === 0)
    return <Empty title="Anchored nowhere yet">A gateway with a chain or a time-stamping authority sends states of its log there.</Empty>;
  return (
    <>
      {chained.length > 0 && <Table label="On public chains" rows={chained} columns={ANCHORS} idOf={({ id }) => id} />}
      {stamped.length > 0 && <Table label="Stamped with the time" rows={stamped} columns={TIMESTAMPS} idOf={({ id }) => id} />}
    </>
  );
}

export function LogPage() {
  return (
    <>
      <PageHead title="Receipts log">
        Append-only: what is in it can be neither changed nor taken out without anybody noticing who keeps one of its states.
      </PageHead>
      <Panel title="Its newest state">
        <State />
      </Panel>
      <Panel title="Anchors and timestamps">
        <Anchors />
      </Panel>
      <Panel title="Invoices">
        <Invoices />
      </Panel>
      <Panel title="Prices and keys, the first entries">
        <Declarations />
      </Panel>
    </>
  );
}
