import { residentMemory } from '../proc.ts';
import type { Row } from '../report.ts';
import { median } from '../statistics.ts';
import type { Subjects } from '../subjects.ts';
import type { EndpointFindings } from './endpoint.ts';

/** What the answers are not held up by: the ledger, its database, and memory. */
export function behind({ all, gateway }: Subjects, { lagsMs, databaseMicros }: EndpointFindings): Row[] {
  const memory = residentMemory(gateway.pid);
  const barePid = all.find(({ name }) => name === 'bare')?.pid;
  const bare = barePid === undefined ? undefined : residentMemory(barePid);
  return [
    { what: 'until every record is in PostgreSQL, median', unit: 'ms', values: { gateway: median(lagsMs) } },
    { what: 'until every record is in PostgreSQL, longest', unit: 'ms', values: { gateway: Math.max(...lagsMs) } },
    { what: 'PostgreSQL’s own CPU a request, median', unit: 'µs', values: { gateway: median(databaseMicros) } },
    { what: 'resident memory after the load', unit: 'MB', values: { ...(bare && { bare: bare.nowMb }), gateway: memory.nowMb } },
    { what: 'resident memory at its peak', unit: 'MB', values: { ...(bare && { bare: bare.peakMb }), gateway: memory.peakMb } },
  ];
}
