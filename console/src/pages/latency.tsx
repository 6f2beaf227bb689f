import type { LatencyHour } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { tallygate } from '../client.ts';
import { count, duration } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { Empty, Figure, Figures, Loading, Pending } from '../ui/parts.tsx';

const LatencyChart = lazy(() => import('../ui/latency-chart.tsx'));
const REFRESH_MS = 60_000;

const said = ({ p50, p95 }: LatencyHour['total_ms']) => ({ value: duration(p50), note: `95 of 100 within ${duration(p95)}` });

function LastHour({ last }: { last: LatencyHour }) {
  return (
    <Figures>
      <Figure label="Whole answer" {...said(last.total_ms)} />
      {last.first_byte_ms && <Figure label="First byte" {...said(last.first_byte_ms)} />}
      <Figure label="Of it the gateway" {...said(last.overhead_ms)} />
      <Figure label="Measured" value={count(last.requests)} note="requests of the newest hour" />
    </Figures>
  );
}

/** How long answers took in the last day. */
export function Latency() {
  const livemode = useLivemode();
  const { data, error } = useQuery({
    queryKey: ['latency', livemode],
    queryFn: () => tallygate.usage.latency({ livemode }),
    refetchInterval: REFRESH_MS,
  });
  if (!data) return <Pending error={error} />;
  const last = data.hours.at(-1);
  if (!last) return <Empty title="No requests in the last day">How long answers take appears here with the first of them.</Empty>;
  return (
    <>
      <LastHour last={last} />
      <Suspense fallback={<Loading />}>
        <LatencyChart shown={data} />
      </Suspense>
    </>
  );
}
