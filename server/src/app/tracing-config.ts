import * as z from 'zod';
import { httpUrl } from './http-url.ts';

/** As OpenTelemetry writes headers: `name=value`, by commas, percent-encoded. */
const headerList = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.split('=')))
  .refine(
    (pairs) => pairs.every(([name = '', ...value]) => /^[\w-]+$/.test(name.trim()) && value.length > 0),
    'Expected name=value, by commas',
  )
  .transform((pairs) =>
    Object.fromEntries(pairs.map(([name = '', ...value]) => [name.trim(), decodeURIComponent(value.join('=').trim())])),
  );

/** By the names that OpenTelemetry gives them. */
export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.default({}),
  OTEL_SERVICE_NAME: z.string().min(1).max(100).default('tallygate'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
};

export interface TracingConfig {
  /** Of the collector, with the path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Of the traces that begin here, how many are sampled, from 0 to 1. */
  readonly ratio: number;
}

const Given = z.object(TRACING_VARIABLES);

export function tracingOf(given: z.infer<typeof Given>): TracingConfig | undefined {
  const endpoint = given.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  return {
    url: `${endpoint}/v1/traces`,
    headers: given.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: given.OTEL_SERVICE_NAME,
    ratio: given.OTEL_TRACES_SAMPLER_ARG,
  };
}
