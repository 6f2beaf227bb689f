import { sequential } from '../load.ts';
import type { Row } from '../report.ts';
import type { Settings } from '../settings.ts';
import { median } from '../statistics.ts';
import type { Name, Subject } from '../subjects.ts';

/** One request at a time: what the way through a subject adds. Streams are timed to their first body byte. */
export async function addedLatency(subjects: readonly Subject[], { warmUp, rounds, requests }: Settings['sequential']): Promise<Row[]> {
  const plain = new Map<Name, number[]>();
  const firstByte = new Map<Name, number[]>();
  for (const subject of subjects) {
    await sequential(subject.shots.chat, warmUp);
    await sequential(subject.shots.stream, warmUp);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, shots } of subjects) {
      const totals = (await sequential(shots.chat, requests)).map(({ totalMs }) => totalMs);
      plain.set(name, [...(plain.get(name) ?? []), median(totals)]);
      const firsts = (await sequential(shots.stream, requests)).map(({ firstByteMs }) => firstByteMs);
      firstByte.set(name, [...(firstByte.get(name) ?? []), median(firsts)]);
    }
  }
  return [...rowsOf('answer', plain), ...rowsOf('stream, to its first byte', firstByte)];
}

function rowsOf(what: string, medians: ReadonlyMap<Name, readonly number[]>): Row[] {
  const [direct, bare, gateway] = (['direct', 'bare', 'gateway'] as const).map((name) => median(medians.get(name) ?? []));
  if (direct === undefined || bare === undefined || gateway === undefined) throw new Error('A subject was not measured');
  return [
    { what, unit: 'ms', values: { direct, bare, gateway } },
    { what: `${what}: added to direct`, unit: 'ms', values: { bare: bare - direct, gateway: gateway - direct } },
  ];
}
