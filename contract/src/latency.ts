import * as z from 'zod';
import { headersA, Livemode, PrintableName, refusals, Timestamp } from './conventions.ts';

const Percentiles = z
  .object({
    p50: z.number().meta({ description: 'Half of the requests took no longer, milliseconds.', examples: [310.5] }),
    p95: z.number().meta({ description: '95 of 100 requests took no longer, milliseconds.', examples: [1290.25] }),
  })
  .meta({ id: 'LatencyPercentiles', description: 'How long something took, milliseconds.' });

export const LatencyHour = z
  .object({
    hour: Timestamp.meta({ description: 'When the hour begins, UTC.' }),
    requests: z.int().meta({ description: 'Answered requests that were measured.', examples: [1200] }),
    first_byte_ms: Percentiles.nullable().meta({
      description: 'From a request’s arrival to the first byte of its answer; null where none had one.',
    }),
    total_ms: Percentiles.meta({ description: 'From a request’s arrival to the end of its answer.' }),
    overhead_ms: Percentiles.meta({ description: 'The gateway’s own part of it.' }),
  })
  .meta({ id: 'LatencyHour', description: 'How long the requests of an hour took.' });
export type LatencyHour = z.infer<typeof LatencyHour>;

export const LatencyResponse = z
  .object({
    from: Timestamp,
    to: Timestamp,
    livemode: z.boolean().meta({ examples: [true] }),
    hours: z.array(LatencyHour).meta({ description: 'The earliest first; hours without a request are left out.' }),
  })
  .meta({ id: 'LatencyResponse', description: 'How long requests of the account took, hour by hour.' });
export type LatencyResponse = z.infer<typeof LatencyResponse>;

export const LatencyQuery = z.object({
  from: Timestamp.optional().meta({ description: 'Start, at most seven days before `to`. Default: a day before it.' }),
  to: Timestamp.optional().meta({ description: 'End. Default: now.' }),
  livemode: Livemode,
  model: PrintableName.max(200).optional().meta({ description: 'Of this model alone, by the name that served.' }),
});
export type LatencyQuery = z.infer<typeof LatencyQuery>;

export const getLatency = {
  method: 'GET',
  path: '/v1/usage/latency',
  summary: 'How long requests took',
  description:
    'Percentiles of answered requests, of those that the caller may see, by the hour in which they arrived; lines of batches and media jobs are left out. Of a busy account up to 150,000 requests, evenly from every five minutes, are measured. Months that are archived have none.',
  headers: headersA,
  query: LatencyQuery,
  responses: { 200: LatencyResponse, ...refusals.read },
  metadata: { auth: 'bearer', scope: 'account:read', tag: 'Usage', operationId: 'getLatency', sdk: 'usage.latency' } as const,
} as const;
