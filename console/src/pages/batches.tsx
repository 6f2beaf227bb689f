import type { Batch } from '@tallygate/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { FileList } from '../files/file-list.tsx';
import { count, fromUnix } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { Paged } from '../ui/paged.tsx';
import { At, Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';

const PAGE = 100;
const KINDS = [
  ['batches', 'Batches'],
  ['files', 'Files'],
] as const;

const RUNNING: ReadonlySet<Batch['status']> = new Set(['validating', 'in_progress', 'finalizing', 'cancelling'] as const);
export const isRunning = ({ status }: Batch): boolean => RUNNING.has(status);

const COLUMNS: readonly Column<Batch>[] = [
  {
    name: 'Batch',
    cell: ({ id }) => (
      <Link to="/batches/$batchId" params={{ batchId: id }} className="mono cut" title={id}>
        {id}
      </Link>
    ),
  },
  { name: 'Created', cell: ({ created_at: at }) => <At at={fromUnix(at)} />, isSecondary: true },
  { name: 'Model', cell: ({ model }) => model ?? 'several', isSecondary: true },
  { name: 'Endpoint', cell: ({ endpoint }) => <code className="mono">{endpoint}</code>, isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} /> },
  {
    name: 'Done',
    cell: ({ request_counts: { total, completed, failed } }) => `${count(completed + failed)} of ${count(total)}`,
    isFigure: true,
  },
  { name: 'Failed', cell: ({ request_counts: { failed } }) => count(failed), isFigure: true, isSecondary: true },
];

function BatchList() {
  const livemode = useLivemode();
  return (
    <Paged
      name="batches"
      by={String(livemode)}
      label="Batches, the newest first"
      columns={COLUMNS}
      idOf={({ id }) => id}
      read={async (after) => {
        const page = await tallygate.batches.list({ livemode, limit: PAGE, ...(after && { after }) });
        return { data: page.data, next_cursor: page.has_more ? page.last_id : null };
      }}
      empty={
        <Empty title="No batches">
          Upload a file with a request a line and create a batch of it: it is answered within a day, at half the price.
        </Empty>
      }
      isMoving={(batches) => batches.some(isRunning)}
    />
  );
}

export function BatchesPage() {
  const { kind } = useSearch({ from: '/frame/batches' });
  const navigate = useNavigate({ from: '/batches' });
  const shown = kind === 'files' ? 'files' : 'batches';
  return (
    <>
      <PageHead title="Batches and files">Many requests in one file, and what is stored for requests.</PageHead>
      <Tabs
        label="Lists"
        tabs={KINDS}
        shown={shown}
        onShow={(tab) => void navigate({ search: { kind: tab === 'batches' ? undefined : tab } })}
      />
      {shown === 'files' ? <FileList /> : <BatchList />}
    </>
  );
}
