import { createOtlpExporter } from '../adapters/telemetry/otlp-http.ts';
import type { Call } from '../inference/calls/index.ts';
import type { Log } from '../kernel/log.ts';
import { type TraceContext, traceOf, traceparentFor } from '../kernel/trace-context.ts';
import { attemptName, type SettledCall, spansOf } from './call-spans.ts';
import type { Closing } from './closing.ts';
import type { TracingConfig } from './tracing-config.ts';

export interface Tracing {
  /** What the provider is told that is asked with this attempt, from 0. */
  traceparentFor(call: Call, attempt: number): string;
  settled(call: SettledCall): void;
}

/** Undefined where no collector is configured: then a request costs nothing for it. */
export function openTracing(config: TracingConfig | undefined, { log, closing }: { log: Log; closing: Closing }): Tracing | undefined {
  if (!config) return undefined;
  const { url, headers, serviceName, ratio } = config;
  const exporter = createOtlpExporter({ url, headers, log, resource: { 'service.name': serviceName, 'telemetry.sdk.language': 'nodejs' } });
  closing.add('traces', () => exporter.close());
  const contextOf = ({ requestId, headers: { traceparent } }: Call): TraceContext => traceOf(requestId, traceparent, ratio);
  return {
    traceparentFor: (call, attempt) => traceparentFor(call.requestId, contextOf(call), attemptName(attempt)),
    settled: (settled) => {
      const trace = contextOf(settled.call);
      if (trace.isSampled) exporter.export(spansOf(settled, trace));
    },
  };
}
