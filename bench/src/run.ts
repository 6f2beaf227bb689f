import { closedLoop } from './load.ts';
import type { Row } from './report.ts';
import type { Settings } from './settings.ts';
import { KINDS, type Kind, PACE, type Subjects } from './subjects.ts';
import { addedLatency } from './views/added-latency.ts';
import { behind } from './views/behind.ts';
import { endpoint } from './views/endpoint.ts';
import { memory } from './views/memory.ts';
import { type Overspend, overspend } from './views/overspend.ts';
import { streams } from './views/streams.ts';

export interface View {
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Results {
  readonly views: readonly View[];
  readonly overspends: readonly Overspend[];
  /** Of every request of the run: what was answered, and what the ledger holds. */
  readonly answered: number;
  readonly recorded: number;
  readonly receipts: number;
}

const WARM_UP_CONNECTIONS = 16;
const ALL_KINDS = Object.keys(KINDS) as Kind[];

/** All views, one after the other; inside each the subjects take turns. */
export async function run(subjects: Subjects, settings: Settings, onProgress: (what: string) => void): Promise<Results> {
  const { gateway, all } = subjects;
  const { load } = settings;
  // A server that has just started is not what is measured.
  onProgress('warming up');
  for (const { shots } of all)
    for (const kind of ALL_KINDS) await closedLoop(shots[kind], WARM_UP_CONNECTIONS, settings.warmUpMs / (kind === 'chat' ? 1 : 2));
  await gateway.drained();

  // First of all: what a process has once grown by, it keeps.
  onProgress('memory');
  const memoryRows = await memory(subjects, settings.memory);
  onProgress('added latency');
  const latencyRows = await addedLatency(all, settings.sequential);
  const endpoints: View[] = [];
  const behindRows: Row[] = [];
  for (const kind of ALL_KINDS) {
    onProgress(KINDS[kind].toLowerCase());
    const findings = await endpoint(subjects, kind, settings);
    endpoints.push({
      title: `${KINDS[kind]}: ${load.connections} connections, ${load.rounds} rounds of ${load.ms / 1000} s`,
      rows: findings.rows,
    });
    if (kind === 'chat') behindRows.push(...behind(subjects, findings));
  }
  onProgress('long streams');
  const streamRows = await streams(all, settings.streams);
  const overspends: Overspend[] = [];
  for (const kind of ALL_KINDS) {
    onProgress(`capped key: ${KINDS[kind].toLowerCase()}`);
    overspends.push(await overspend(subjects, kind, settings.overspend));
  }
  await gateway.drained();
  const { requests: recorded, receipts } = await gateway.recorded();

  const { sequential, streams: many } = settings;
  return {
    views: [
      { title: `One request at a time: medians of ${sequential.rounds} rounds of ${sequential.requests}`, rows: latencyRows },
      ...endpoints,
      { title: `${many.together} streams of ${PACE.tokens} tokens, ${PACE.gapMs} ms apart: ${many.rounds} rounds`, rows: streamRows },
      { title: 'Behind the gateway, after the load of plain chats', rows: behindRows },
      { title: 'Memory', rows: memoryRows },
    ],
    overspends,
    answered: gateway.tally.answers,
    recorded,
    receipts,
  };
}
