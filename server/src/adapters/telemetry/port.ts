export type AttributeValue = string | number | boolean | readonly string[];

/** One finished part of a trace, by the OpenTelemetry data model. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  /** Epoch milliseconds, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  /** Those that are undefined are left out. */
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  readonly isError?: boolean;
}

/** Where finished spans go. */
export interface SpanExporter {
  /** Never waits and never throws: what finds no room is dropped, and counted. */
  export(spans: readonly Span[]): void;
  /** Sends what waits. */
  close(): Promise<void>;
}
