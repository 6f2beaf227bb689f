import type { RequestTrace } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { tallygate } from '../client.ts';
import { duration, moment, usd } from '../format.ts';
import { useNames } from '../names.ts';
import { RefundRequest } from '../operator/refund-request.tsx';
import { untilSettled } from '../query-client.ts';
import { useMay } from '../session.ts';
import { Badge, Facts, Figure, Figures, Mono, PageHead, PagePending, Panel } from '../ui/parts.tsx';
import { ReceiptPanel } from './receipt-panel.tsx';

const FULL = 100;
const ASK_AGAIN_MS = 500;
const between = (from: string, to: string): number => Date.parse(to) - Date.parse(from);

interface StretchProps {
  readonly name: string;
  readonly startMs: number;
  readonly lengthMs: number;
  readonly wholeMs: number;
}

/** One part of the time of a request, where it lies in the whole. */
function Stretch({ name, startMs, lengthMs, wholeMs }: StretchProps) {
  const share = (ms: number) => (FULL * ms) / Math.max(1, wholeMs);
  return (
    <li>
      <span>{name}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect className="cap" width="100" height="6" rx="1" />
        <rect className="spent" x={share(startMs)} width={Math.max(0.5, share(lengthMs))} height="6" rx="1" />
      </svg>
      <span className="figure-cell">{duration(lengthMs)}</span>
    </li>
  );
}

function Timeline({ trace }: { trace: RequestTrace }) {
  const { started_at: startedAt, first_byte_at: firstAt, completed_at: completedAt, overhead_ms: overheadMs } = trace;
  const wholeMs = between(startedAt, completedAt);
  const firstMs = firstAt === null ? wholeMs : between(startedAt, firstAt);
  return (
    <ol className="timeline">
      <Stretch name="In the gateway" startMs={0} lengthMs={overheadMs} wholeMs={wholeMs} />
      {trace.attempts.map(({ deployment, started_ms: startMs, duration_ms: lengthMs, outcome }) => (
        <Stretch
          key={`${deployment} ${startMs}`}
          name={`${deployment}: ${outcome.replaceAll('_', ' ')}`}
          {...{ startMs, lengthMs, wholeMs }}
        />
      ))}
      <Stretch name="To the first byte" startMs={0} lengthMs={firstMs} wholeMs={wholeMs} />
      <Stretch name="To the settlement" startMs={0} lengthMs={wholeMs} wholeMs={wholeMs} />
    </ol>
  );
}

function Skipped({ trace: { skipped } }: { trace: RequestTrace }) {
  if (skipped.length === 0) return null;
  return (
    <Panel title="Not asked">
      <ul className="steps">
        {skipped.map(({ deployment, model, reason }) => (
          <li key={`${deployment} ${model}`}>
            {deployment ?? model}: {reason.replaceAll('_', ' ')}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What the request belonged to, by its name, and the way there. */
function useOwners({ key_id: keyId, run_id: runId, project_id: projectId }: RequestTrace) {
  const names = useNames(['key', 'project']);
  return {
    key: keyId !== null && (
      <Link to="/keys/$keyId" params={{ keyId }}>
        {names.get(keyId) ?? keyId}
      </Link>
    ),
    run: runId !== null && (
      <Link to="/runs/$runId" params={{ runId }}>
        {runId}
      </Link>
    ),
    project: projectId !== null && (
      <Link to="/projects/$projectId" params={{ projectId }}>
        {names.get(projectId) ?? projectId}
      </Link>
    ),
  };
}

function About({ trace }: { trace: RequestTrace }) {
  const owners = useOwners(trace);
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Endpoint', trace.endpoint],
    ['Model asked for', trace.model_requested],
    ['Provider', trace.provider],
    ['API key', owners.key],
    ['Agent run', owners.run],
    ['Project', owners.project],
    ['End user', trace.end_user],
    ['Tags', trace.tags?.join(', ') ?? null],
    ['Started', moment(trace.started_at)],
    ['Price version', trace.price_version],
    ['Corrected', trace.correction && `to ${usd(trace.correction.cost_usd)}: ${trace.correction.reason}`],
    ['Refunded', trace.refund && `${moment(trace.refund.refunded_at)}: ${trace.refund.reason}`],
  ];
  return <Facts facts={facts} />;
}

interface TraceProps {
  readonly trace: RequestTrace;
  readonly onRefunded: () => void;
}

/** For those who run the gateway: once, so that a request that was refunded has no button. */
function Refund({ trace, onRefunded }: TraceProps) {
  const [isOpen, setOpen] = useState(false);
  if (trace.refund !== null) return null;
  return (
    <>
      <button type="button" className="danger" onClick={() => setOpen(true)}>
        Refund
      </button>
      {isOpen && (
        <RefundRequest request={{ id: trace.request_id, cost: trace.cost_usd }} onRefunded={onRefunded} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function Trace({ trace, onRefunded }: TraceProps) {
  const isOperator = useMay('run the gateway');
  return (
    <>
      <PageHead title={trace.model_served} aside={isOperator && <Refund trace={trace} onRefunded={onRefunded} />}>
        <Mono>{trace.request_id}</Mono> <Badge state={trace.outcome} />
      </PageHead>
      <Figures>
        <Figure label="Cost" value={usd(trace.cost_usd)} note={trace.estimated ? 'the usage is our count' : 'by the provider’s usage'} />
        <Figure label="Held before it ran" value={usd(trace.held_usd)} />
        <Figure label="Beyond the plan’s quota" value={usd(trace.charged_usd)} />
        <Figure label="Took" value={duration(between(trace.started_at, trace.completed_at))} />
      </Figures>
      <Panel title="Time">
        <Timeline trace={trace} />
      </Panel>
      <Skipped trace={trace} />
      <ReceiptPanel receiptId={trace.receipt_id} />
      <Panel title="About it">
        <About trace={trace} />
      </Panel>
    </>
  );
}

export function Request() {
  const { requestId } = useParams({ from: '/frame/requests/$requestId' });
  const [isRefunded, setRefunded] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['request', requestId],
    queryFn: () => tallygate.requests.get(requestId),
    ...untilSettled,
    refetchInterval: ({ state }) => isRefunded && state.data?.refund === null && ASK_AGAIN_MS,
  });
  return data ? <Trace trace={data} onRefunded={() => setRefunded(true)} /> : <PagePending error={error} />;
}
