import { useMemo } from 'react';
import UPlot from 'uplot';
import { usd } from '../format.ts';
import { Chart, color } from './chart.tsx';

interface Point {
  /** A day, UTC: "2026-11-25". */
  readonly day: string;
  readonly usd: string;
}

function bars(): UPlot.Series[] {
  const paths = UPlot.paths.bars?.({ size: [0.7, 40] });
  return [{ fill: color('--accent'), stroke: color('--accent'), ...(paths && { paths }), points: { show: false } }];
}

/** Spending by day as bars. */
export default function SpendChart({ points }: { points: readonly Point[] }) {
  const data = useMemo<UPlot.AlignedData>(
    // Nothing is drawn where nothing was spent.
    () => [points.map((point) => Date.parse(point.day) / 1_000), points.map((point) => Number(point.usd) || null)],
    [points],
  );
  const props = useMemo(() => ({ data, series: bars, writeValue: (value: number) => usd(`${value}`) }), [data]);
  return (
    <figure className="chart">
      <Chart {...props} />
      <table className="unseen">
        <caption>Spent by day</caption>
        <tbody>
          {points.map((point) => (
            <tr key={point.day}>
              <th scope="row">{point.day}</th>
              <td>{usd(point.usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
