import type { Batch } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { download } from '../files/download.ts';
import { count, fromUnix, moment } from '../format.ts';
import { useMay } from '../session.ts';
import { Confirm } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { Badge, CapBar, Facts, Failure, Figure, Figures, Mono, PageHead, PagePending, Panel } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { isRunning } from './batches.tsx';

const ASK_AGAIN_MS = 3_000;

function CancelBatch({ batch, onClose }: { batch: Batch; onClose: () => void }) {
  const reload = useReload('batch', 'batches');
  const { total, completed, failed } = batch.request_counts;
  const cancel = async (): Promise<void> => {
    await tallygate.batches.cancel(batch.id);
    await reload();
  };
  return (
    <Confirm title="Cancel the batch?" action="Cancel the batch" onConfirm={cancel} onClose={onClose}>
      {count(total - completed - failed)} of {count(total)} requests of {batch.id} are not run. What is answered until then is charged, and
      is in the output file.
    </Confirm>
  );
}

type Problem = NonNullable<Batch['errors']>['data'][number];
const PROBLEMS: readonly Column<Problem & { readonly place: number }>[] = [
  { name: 'Line', cell: ({ line }) => line ?? '–', isFigure: true },
  { name: 'What is wrong', cell: ({ message }) => message },
  { name: 'Field', cell: ({ param }) => param ?? '–', isSecondary: true },
];

function Files({ batch }: { batch: Batch }) {
  const [failure, setFailure] = useState<unknown>();
  const files = [
    ['Save the answers', batch.output_file_id],
    ['Save the errors', batch.error_file_id],
    ['Save the requests', batch.input_file_id],
  ] as const;
  return (
    <>
      {failure !== undefined && <Failure error={failure} />}
      <div className="actions">
        {files.map(
          ([label, id]) =>
            id !== undefined && (
              <button key={label} type="button" onClick={() => void download(id).catch(setFailure)}>
                {label}
              </button>
            ),
        )}
      </div>
    </>
  );
}

const at = (seconds: number | undefined): string | undefined => (seconds === undefined ? undefined : moment(fromUnix(seconds)));

function Detail({ batch }: { batch: Batch }) {
  const mayUse = useMay('use models');
  const [isCanceling, setCanceling] = useState(false);
  const { total, completed, failed } = batch.request_counts;
  const { usage, errors } = batch;
  const cancel = mayUse && (batch.status === 'in_progress' || batch.status === 'validating') && (
    <button type="button" className="danger" onClick={() => setCanceling(true)}>
      Cancel
    </button>
  );
  return (
    <>
      <PageHead title={batch.model === undefined ? 'Batch' : `Batch of ${batch.model}`} aside={cancel}>
        <Mono>{batch.id}</Mono> <Badge state={batch.status} />
      </PageHead>
      <Figures>
        <Figure
          label="Done"
          value={`${count(completed + failed)} of ${count(total)}`}
          note={<CapBar spent={String(completed)} held={String(failed)} cap={String(total)} of="of the requests are answered" />}
        />
        <Figure label="Failed" value={count(failed)} />
        <Figure label="Tokens in" value={usage ? count(usage.input_tokens) : '–'} />
        <Figure label="Tokens out" value={usage ? count(usage.output_tokens) : '–'} />
      </Figures>
      {errors && (
        <Panel title="Why it was not begun">
          <Table
            label="Lines at fault"
            rows={errors.data.map((one, place) => ({ ...one, place }))}
            columns={PROBLEMS}
            idOf={({ place }) => String(place)}
          />
        </Panel>
      )}
      <Panel title="Files">
        <Files batch={batch} />
      </Panel>
      <Panel title="About it">
        <Facts
          facts={[
            ['Endpoint', batch.endpoint],
            ['Created', at(batch.created_at)],
            ['Begun', at(batch.in_progress_at)],
            ['Ended', at(batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at)],
            ['Ends at the latest', at(batch.expires_at)],
            [
              'Notes',
              Object.entries(batch.metadata ?? {})
                .map(([name, value]) => `${name}: ${value}`)
                .join(', '),
            ],
          ]}
        />
      </Panel>
      {isCanceling && <CancelBatch batch={batch} onClose={() => setCanceling(false)} />}
    </>
  );
}

export function BatchPage() {
  const { batchId } = useParams({ from: '/frame/batches/$batchId' });
  const { data, error } = useQuery({
    queryKey: ['batch', batchId],
    queryFn: () => tallygate.batches.get(batchId),
    refetchInterval: ({ state }) => state.data !== undefined && isRunning(state.data) && ASK_AGAIN_MS,
  });
  return data ? <Detail batch={data} /> : <PagePending error={error} />;
}
