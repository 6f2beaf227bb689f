import { openLoop } from '../load.ts';
import type { Row } from '../report.ts';
import type { Settings } from '../settings.ts';
import { quantile } from '../statistics.ts';
import { NAMES, type Name, type Subject } from '../subjects.ts';

/** A rate that leaves everybody idle most of the time: what a user meets on an ordinary day. */
export async function steady(subjects: readonly Subject[], { perSecond, rounds, ms }: Settings['steady']): Promise<Row[]> {
  const latencies: Record<Name, number[]> = { direct: [], bare: [], gateway: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, plain } of subjects) {
      const answers = await openLoop(plain, perSecond, ms);
      latencies[name].push(...answers.map(({ totalMs }) => totalMs));
    }
  }
  const at = (share: number) => Object.fromEntries(NAMES.map((name) => [name, quantile(latencies[name], share)]));
  return [
    { what: 'latency, p50', unit: 'ms', values: at(0.5) },
    { what: 'latency, p99', unit: 'ms', values: at(0.99) },
  ];
}
