import type { AnthropicSaying } from './anthropic/saying.ts';
import type { BedrockSaying } from './bedrock/saying.ts';
import type { CohereSaying } from './cohere/saying.ts';
import type { GoogleSaying } from './google/saying.ts';

/** OpenAI's usage of a chat completion, exact by the rule in the README. */
export interface ExactUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export interface ScriptedToolCall {
  readonly name: string;
  /** JSON text, sent as it is: it may be malformed on purpose. */
  readonly arguments: string;
}

/** What the model says. Every token is one piece, and in a stream every piece is one event. */
export interface Saying {
  /** The answer's text; a token is a word with the white space before it. */
  readonly text?: string;
  /** Instead of `text`: this many words, `tok0 tok1 tok2 …`. Default 8. */
  readonly tokens?: number;
  /** Sent before the text as `reasoning_content`; counts as completion tokens. */
  readonly reasoning?: string;
  /** OpenAI's API: tokens of reasoning that are billed, within the bound, and never shown. */
  readonly hiddenReasoning?: number;
  /** Sent after the text. Each call is one token for its name and one per 8 characters of arguments. */
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Instead of the one that follows from the answer. */
  readonly finishReason?: string;
  /** Ignores `max_tokens` and `max_completion_tokens`, as a provider that bills more than was held. */
  readonly exceedsBound?: boolean;
  /** All APIs: every count of the usage is said, and billed, so many times, as by a provider that counts wrong. */
  readonly usageTimes?: number;
  /** Replaces the exact usage with the returned one; `undefined` leaves it out. */
  readonly usage?: (exact: ExactUsage) => unknown;
}

/** How a stream is written down. */
export interface StreamForm {
  /** The position of usage, if requested. Default `own_chunk`, after the last choice. */
  readonly usageAt?: 'own_chunk' | 'last_choice' | 'every_chunk';
  /** Default true: ends in `data: [DONE]`. */
  readonly done?: boolean;
  /** Default `\n`. */
  readonly lineEnd?: '\n' | '\r\n' | '\r';
  /** Begins with a byte order mark. */
  readonly hasBom?: boolean;
  /** A comment line `: ping` before every event. */
  readonly pings?: boolean;
  /** After this many events, `data: {"error": …}` replaces the rest. */
  readonly errorAfter?: number;
}

/** The answer stops before its end. */
export interface Cut {
  /** `before_head`, `after_head`, or after so many pieces of the body (events of a stream, or what `pieceBytes` makes). */
  readonly at: 'before_head' | 'after_head' | number;
  /** `reset`: TCP RST. `fin`: an orderly close. `garbage`: bytes that are no HTTP chunk, then close. `stall`: silence until the client goes away. */
  readonly how: 'reset' | 'fin' | 'garbage' | 'stall';
}

/** One scripted answer. All fields are optional and flat, so that steps compose by spreading: `{ ...crlf(), ...split(1) }`. */
export interface Step extends Saying, StreamForm {
  /** Only in Anthropic's API. */
  readonly anthropic?: AnthropicSaying;
  /** Only in Bedrock's API. */
  readonly bedrock?: BedrockSaying;
  /** Only in Cohere's API. */
  readonly cohere?: CohereSaying;
  /** Only in Google's API. */
  readonly google?: GoogleSaying;
  /** Before the head, milliseconds. */
  readonly delayMs?: number;
  /** Between the head and the body's first byte, milliseconds. */
  readonly firstByteDelayMs?: number;
  /** Between two pieces, milliseconds. */
  readonly gapMs?: number;
  /** After so many pieces nothing is sent until then. */
  readonly waits?: { readonly at: number; readonly until: Promise<unknown> };
  /** Default 200. */
  readonly status?: number;
  /** Added to the head; wins over its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Takes the place of the completion. Objects are sent as JSON. */
  readonly body?: string | Uint8Array | object;
  /** Body pieces of this many bytes, cut at any position; a list gives the sizes in turn, the last one repeats. */
  readonly pieceBytes?: number | readonly [number, ...number[]];
  /** So many bytes more: a member in front of a document's last, an event of a stream, bytes behind a sound. Nothing is billed for them. */
  readonly padding?: number;
  /** The number of events before the one with the padding. Default 0. */
  readonly paddingAt?: number;
  /** Inserted literally into a stream after this many events. Not billed. */
  readonly inserted?: { readonly at: number; readonly event: string | Uint8Array };
  /** The body is sent in it, whether or not it was asked for; a stream whole, then. */
  readonly encoding?: 'gzip' | 'deflate' | 'br';
  readonly cut?: Cut;
  /** After a disconnect only the sent part is billed. Default: the whole answer. */
  readonly stopsBilling?: boolean;
  /** The whole answer is billed once the request has arrived, even if an error or a broken body is sent instead. */
  readonly billsAnyway?: boolean;
}
