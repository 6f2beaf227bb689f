import { closedLoop } from './load.ts';
import type { Row } from './report.ts';
import type { Settings } from './settings.ts';
import { PACE, type Subjects } from './subjects.ts';
import { addedLatency } from './views/added-latency.ts';
import { type Overspend, overspend } from './views/overspend.ts';
import { steady } from './views/steady.ts';
import { streams } from './views/streams.ts';
import { throughput } from './views/throughput.ts';

export interface View {
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Results {
  readonly views: readonly View[];
  readonly overspend: Overspend;
  /** Of every request of the run: what was answered, and what the ledger holds. */
  readonly answered: number;
  readonly recorded: number;
  readonly receipts: number;
}

const WARM_UP_CONNECTIONS = 16;

/** All views, one after the other; inside each the subjects take turns. */
export async function run(subjects: Subjects, settings: Settings, onProgress: (what: string) => void): Promise<Results> {
  const { gateway, all } = subjects;
  // A server that has just started is not what is measured.
  onProgress('warming up');
  for (const { plain, stream } of all) {
    await closedLoop(plain, WARM_UP_CONNECTIONS, settings.warmUpMs);
    await closedLoop(stream, WARM_UP_CONNECTIONS, settings.warmUpMs / 2);
  }
  await gateway.drained();

  onProgress('added latency');
  const latencyRows = await addedLatency(all, settings.sequential);
  onProgress('throughput');
  const { load, ledger } = await throughput(subjects, settings.throughput);
  onProgress('steady rate');
  const steadyRows = await steady(all, settings.steady);
  onProgress('streams');
  const streamRows = await streams(all, settings.streams);
  onProgress('capped key');
  const capped = await overspend(subjects, settings.overspend);
  await gateway.drained();
  const { requests: recorded, receipts } = await gateway.recorded();

  const { sequential, throughput: saturated, steady: even, streams: many } = settings;
  return {
    views: [
      { title: `One request at a time: medians of ${sequential.rounds} rounds of ${sequential.requests}`, rows: latencyRows },
      {
        title: `${saturated.connections} connections, as fast as they go: ${saturated.rounds} rounds of ${saturated.ms / 1000} s`,
        rows: load,
      },
      { title: `${even.perSecond} requests a second`, rows: steadyRows },
      { title: `${many.together} streams of ${PACE.tokens} tokens, ${PACE.gapMs} ms apart: ${many.rounds} rounds`, rows: streamRows },
      { title: 'Behind the gateway', rows: ledger },
    ],
    overspend: capped,
    answered: gateway.tally.answers,
    recorded,
    receipts,
  };
}
