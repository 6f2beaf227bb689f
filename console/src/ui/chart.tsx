import { useEffect, useRef, useSyncExternalStore } from 'react';
import UPlot from 'uplot';

const HEIGHT_PX = 220;

/** A colour of the theme as a canvas takes it: light and dark resolved. */
export function color(name: string): string {
  const probe = document.body.appendChild(document.createElement('span'));
  probe.style.color = `var(${name})`;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

interface ChartProps {
  readonly data: UPlot.AlignedData;
  /** Of what is drawn, without the times. Called when the chart is drawn, with the colours of that moment. */
  readonly series: () => UPlot.Series[];
  readonly writeValue: (value: number) => string;
}

function optionsOf(width: number, { data, series, writeValue }: ChartProps): UPlot.Options {
  const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  const most = Math.max(0, ...data.slice(1).flatMap((values) => [...values].map(Number)));
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: { y: { range: () => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [axis, { ...axis, size: 90, values: (_, ticks) => ticks.map(writeValue) }],
    series: [{}, ...series()],
  };
}

const DARK = matchMedia('(prefers-color-scheme: dark)');

/** A canvas keeps the colours it was drawn with: so it is drawn again in the other scheme. */
const useIsDark = (): boolean =>
  useSyncExternalStore(
    (onChange) => {
      DARK.addEventListener('change', onChange);
      return () => DARK.removeEventListener('change', onChange);
    },
    () => DARK.matches,
  );

/** Values over time, drawn on a canvas as wide as there is room. The same figures belong in a table beside it, for those who do not see it. */
export const Chart = (props: ChartProps) => <Drawn key={String(useIsDark())} {...props} />;

function Drawn(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const frame = place.current;
    if (!frame) return;
    const plot = new UPlot(optionsOf(frame.clientWidth, props), props.data, frame);
    const resized = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height: HEIGHT_PX }));
    resized.observe(frame);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [props]);
  return <div ref={place} aria-hidden="true" />;
}
