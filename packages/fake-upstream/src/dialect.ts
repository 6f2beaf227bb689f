import type { Fields } from './fields.ts';
import type { RecordedRequest } from './recorded-request.ts';
import type { Step } from './step.ts';

/** What a provider says to one request, in both ways of writing it down. */
export interface Answer {
  readonly isStream: boolean;
  /** Of the whole answer; JSON where it is left out. */
  readonly contentType?: string;
  /** Of its head, beside the usual. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole answer: one JSON document, or bytes. */
  plain(): object | Uint8Array;
  /** What it really took, where the answer may say something else. Default: what the whole answer says. */
  exactUsage?(): unknown;
  /** How many events come before the first that carries a token. Default: none. */
  readonly leadingEvents?: number;
  /** Of its stream; default: server-sent events. */
  readonly streamType?: string;
  /** The events, one piece each. */
  events(): Iterable<string | Uint8Array>;
  /** An event of so many bytes that says nothing; default: a server-sent event. */
  padding?(bytes: number): Uint8Array;
}

export interface Question {
  /** Counts the requests. */
  readonly turn: number;
  /** With its query. */
  readonly path: string;
  readonly request: Fields;
  readonly step: Step;
  readonly promptTokens: number;
}

/** One provider's API. */
export interface Dialect {
  /** Whether a request is for this API, by its method and path. */
  takes(request: RecordedRequest): boolean;
  /** What this API says to a request that it cannot take; such a request uses up no step. */
  refusal(request: RecordedRequest): Step | undefined;
  answer(question: Question): Answer;
}
