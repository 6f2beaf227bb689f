import type { Clock } from '../../../kernel/clock.ts';
import type { UpstreamCallOf, UpstreamEndpoint } from '../port.ts';
import type { SandboxFault } from './faults.ts';
import type { Rejection } from './rejection.ts';

/** A piece of a body. What takes time to make is a function, called when it is the piece's turn. */
export type Piece = string | Buffer | (() => string | Buffer);

/** A body that is no stream of events: JSON, a text, a sound. */
export interface PlainBody {
  readonly ok: true;
  readonly contentType: string;
  readonly pieces: readonly Piece[];
}

/**
 * One server-sent event. `opening` comes before what is said, and between its parts; `content` is what is said; with the first `closing`
 * event the answer begins to end.
 */
export interface StreamEvent {
  readonly part: 'opening' | 'content' | 'closing';
  readonly text: Piece;
}

export interface EventStream {
  readonly ok: true;
  readonly events: readonly StreamEvent[];
  /** The event that says that the stream failed after `sent` events, as the endpoint's clients read it. */
  failure(error: StreamError, sent: number): string;
}

/** OpenAI's error object. */
export interface StreamError {
  readonly message: string;
  readonly type: 'server_error';
  readonly param: null;
  readonly code: 'sandbox_fault';
}

/** A whole answer, before the way of sending it and its faults are decided. */
export type Composition = PlainBody | EventStream;

/** What an answer depends on besides the call. */
export interface Circumstances {
  /** SHA-256 of model and request, hex: what is made of a prompt follows from it. */
  readonly fingerprint: string;
  /** 64 hexadecimal digits of this answer alone, from which its ids are made. */
  readonly idSeed: string;
  readonly clock: Clock;
  readonly fault: SandboxFault | undefined;
}

/** An event without a name, as chat and audio have it. */
export const dataEvent = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** Clients of most endpoints throw at an event without a name that has an `error`. */
export const failWithError = (error: StreamError): string => dataEvent({ error });

/** Answers the calls of one endpoint. */
export type Composer<E extends UpstreamEndpoint> = (
  call: UpstreamCallOf<E>,
  circumstances: Circumstances,
) => Composition | Rejection | Promise<Composition | Rejection>;

export const jsonBody = (value: unknown): PlainBody => ({ ok: true, contentType: 'application/json', pieces: [JSON.stringify(value)] });

export const unixSeconds = (clock: Clock): number => Math.floor(clock.now() / 1000);

/** An event that is named after its `type`, as responses and images have it. */
export const namedEvent = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\n${dataEvent(data)}`;
