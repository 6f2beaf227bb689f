import type { LatencyHour } from '@tallygate/sdk';
import { useMemo } from 'react';
import type UPlot from 'uplot';
import { briefMoment, duration } from '../format.ts';
import { Chart, color } from './chart.tsx';

const HOUR_S = 3_600;

function lines(): UPlot.Series[] {
  const line = { width: 2, points: { show: true, size: 5 } };
  return [
    { ...line, stroke: color('--accent') },
    { ...line, stroke: color('--wait'), dash: [6, 4] },
  ];
}

interface Shown {
  /** The first and the last moment, RFC 3339. */
  readonly from: string;
  readonly to: string;
  readonly hours: readonly LatencyHour[];
}

/** All hours of the time; those without a request are a gap, not a zero. */
function dataOf({ from, to, hours }: Shown): UPlot.AlignedData {
  const byTime = new Map(hours.map((one) => [Date.parse(one.hour) / 1_000, one.total_ms]));
  const first = Math.ceil(Date.parse(from) / 1_000 / HOUR_S);
  const last = Math.floor(Date.parse(to) / 1_000 / HOUR_S);
  const all = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * HOUR_S);
  return [all, all.map((at) => byTime.get(at)?.p50 ?? null), all.map((at) => byTime.get(at)?.p95 ?? null)];
}

/** How long whole answers took, hour by hour: the median as a line, and the 95th percentile as a broken one. */
export default function LatencyChart({ shown }: { shown: Shown }) {
  const { hours } = shown;
  const props = useMemo(() => ({ data: dataOf(shown), series: lines, writeValue: duration }), [shown]);
  return (
    <figure className="chart">
      <Chart {...props} />
      <figcaption className="quiet">
        Whole answers by the hour, UTC: the line is the median, the broken line the 95th percentile.
      </figcaption>
      <table className="unseen">
        <caption>Latency by hour</caption>
        <thead>
          <tr>
            <th scope="col">Hour</th>
            <th scope="col">Median</th>
            <th scope="col">95th percentile</th>
          </tr>
        </thead>
        <tbody>
          {hours.map(({ hour, total_ms: total }) => (
            <tr key={hour}>
              <th scope="row">{briefMoment(hour)}</th>
              <td>{duration(total.p50)}</td>
              <td>{duration(total.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
