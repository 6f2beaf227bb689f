import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { usd } from '../format.ts';

interface Point {
  /** A day, UTC: "2026-11-25". */
  readonly day: string;
  readonly usd: string;
}

const HEIGHT_PX = 220;
/** A colour of the theme as a canvas takes it: light and dark resolved. */
function color(name: string): string {
  const probe = document.body.appendChild(document.createElement('span'));
  probe.style.color = `var(${name})`;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

function optionsOf(width: number): UPlot.Options {
  const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40] });
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [axis, { ...axis, size: 90, values: (_, ticks) => ticks.map((tick) => usd(`${tick}`)) }],
    series: [{}, { fill: color('--accent'), stroke: color('--accent'), ...(bars && { paths: bars }), points: { show: false } }],
  };
}

/** Spending by day as bars, drawn on a canvas; the same figures are in a table for those who do not see it. */
export default function SpendChart({ points }: { points: readonly Point[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const frame = place.current;
    if (!frame) return;
    const data: UPlot.AlignedData = [
      points.map((point) => Date.parse(point.day) / 1_000), // Nothing is drawn where nothing was spent.
      points.map((point) => Number(point.usd) || null),
    ];
    const plot = new UPlot(optionsOf(frame.clientWidth), data, frame);
    const resized = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height: HEIGHT_PX }));
    resized.observe(frame);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [points]);
  return (
    <figure className="chart">
      <div ref={place} aria-hidden="true" />
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
