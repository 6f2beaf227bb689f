import type { Log } from '../../kernel/log.ts';
import type { AttributeValue, Span, SpanExporter } from './port.ts';

interface OtlpOptions {
  /** Of the collector, with the path: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `service.name` and the like. */
  readonly resource: Readonly<Record<string, AttributeValue>>;
  readonly log: Log;
  /** How long spans wait for others. Default: a second. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_000;
const MOST_A_BATCH = 512;
/** What waits while the collector does not take it: some megabytes. */
const MOST_WAITING = 8_192;
const PATIENCE_MS = 5_000;
const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

/** OTLP over HTTP in its JSON form (opentelemetry.io/docs/specs/otlp). One batch is on its way at a time. */
export function createOtlpExporter({ url, headers, resource, log, everyMs = EVERY_MS }: OtlpOptions): SpanExporter {
  const waiting: Span[] = [];
  let dropped = 0;
  let sending: Promise<void> | undefined;
  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MOST_A_BATCH);
      const fault = await post(url, headers, bodyOf(batch, resource));
      if (fault !== undefined) log.warn({ spans: batch.length, because: fault }, 'the collector of traces did not take spans');
    }
    if (dropped > 0) log.warn({ spans: dropped }, 'spans were dropped, since the collector of traces is too slow');
    dropped = 0;
  };
  const flush = (): Promise<void> => {
    sending ??= send().finally(() => {
      sending = undefined;
    });
    return sending;
  };
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();
  return {
    export(spans) {
      if (waiting.length + spans.length > MOST_WAITING) dropped += spans.length;
      else waiting.push(...spans);
    },
    async close() {
      clearInterval(timer);
      await flush();
      await flush();
    },
  };
}

/** @returns what went wrong */
async function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body, signal });
    await answer.arrayBuffer();
    return answer.ok ? undefined : `HTTP ${answer.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function bodyOf(spans: readonly Span[], resource: OtlpOptions['resource']): string {
  const scopeSpans = [{ scope: { name: 'tallygate' }, spans: spans.map(wireOf) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] });
}

const wireOf = ({ kind, startMs, endMs, attributes, isError, ...ids }: Span): object => ({
  ...ids,
  kind: KINDS[kind],
  startTimeUnixNano: nanosOf(startMs),
  // A clock that was set back must not end a span before it began.
  endTimeUnixNano: nanosOf(Math.max(startMs, endMs)),
  attributes: attributesOf(attributes),
  status: isError ? { code: STATUS_ERROR } : {},
});

/** As text: the number is larger than what a double holds exactly. */
const nanosOf = (ms: number): string => `${BigInt(Math.round(ms * 1_000)) * 1_000n}`;

const attributesOf = (attributes: Span['attributes']): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}
