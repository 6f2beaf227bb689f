import { together } from '../load.ts';
import { cpuTime } from '../proc.ts';
import type { Row } from '../report.ts';
import type { Settings } from '../settings.ts';
import { median, quantile } from '../statistics.ts';
import { EVENTS_PER_STREAM, NAMES, type Name, type Subject } from '../subjects.ts';

/** Many long streams at once: what a chunk costs, and how late the first one is. */
export async function streams(subjects: readonly Subject[], settings: Settings['streams']): Promise<Row[]> {
  const perChunk: Record<Name, number[]> = { direct: [], bare: [], gateway: [] };
  const firstBytes: Record<Name, number[]> = { direct: [], bare: [], gateway: [] };
  for (let round = 0; round < settings.rounds; round += 1) {
    for (const { name, pid, pacedStream } of subjects) {
      const before = pid === undefined ? 0 : cpuTime(pid).process;
      const answers = await together(pacedStream, settings.together);
      const after = pid === undefined ? 0 : cpuTime(pid).process;
      perChunk[name].push((after - before) / (answers.length * EVENTS_PER_STREAM));
      firstBytes[name].push(...answers.map(({ firstByteMs }) => firstByteMs));
    }
  }
  const proxies = ['bare', 'gateway'] as const;
  const cpu = (take: (values: number[]) => number) => Object.fromEntries(proxies.map((name) => [name, take(perChunk[name])]));
  return [
    { what: 'CPU a chunk, best round', unit: 'µs', values: cpu((values) => Math.min(...values)) },
    { what: 'CPU a chunk, median round', unit: 'µs', values: cpu(median) },
    ...([0.5, 0.99] as const).map((share) => ({
      what: `first byte, all streams starting at once, p${share * 100}`,
      unit: 'ms',
      values: Object.fromEntries(NAMES.map((name) => [name, quantile(firstBytes[name], share)])),
    })),
  ];
}
