import type { Readable } from 'node:stream';
import type {
  BatchEmbedContentsRequest,
  ChatCompletionRequest,
  CompletionRequest,
  EmbedContentRequest,
  EmbeddingRequest,
  GenerateContentRequest,
  ImageEditRequest,
  ImageGenerationRequest,
  ImageVariationRequest,
  MessagesRequest,
  ModerationRequest,
  ReceiptUsage,
  RerankRequest,
  ResponseRequest,
  SpeechRequest,
  TranscriptionRequest,
  TranslationRequest,
  VideoCharacterRequest,
  VideoRequest,
} from '@tallygate/contract';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import type { EventSocket } from '../../kernel/web-socket/event-socket.ts';

/** A video that lives at the provider, and what is to be made of it. */
export interface VideoSource {
  readonly how: 'remix' | 'edit' | 'extension';
  /** The provider's own id of it. */
  readonly id: string;
}

/** What `madeOf` names is a video of another; else it begins with nothing but words and pictures. */
export type VideoJobRequest = VideoRequest & { readonly madeOf?: VideoSource | undefined };

/** Documents as the texts that are ranked. What else they were sent with is not for the provider. */
export interface RankedTexts extends Pick<RerankRequest, 'model' | 'query' | 'top_n' | 'max_tokens_per_doc'> {
  readonly documents: readonly string[];
  readonly [field: string]: unknown;
}

/** The requests that a provider can be sent, by the endpoint whose dialect they and their answers are in: OpenAI's, Anthropic's and Google's. */
export interface UpstreamRequests {
  '/v1/chat/completions': ChatCompletionRequest;
  '/v1/completions': CompletionRequest;
  '/v1/responses': ResponseRequest;
  '/v1/messages': MessagesRequest;
  '/v1beta/models:generateContent': GenerateContentRequest;
  '/v1beta/models:embedContent': EmbedContentRequest;
  '/v1beta/models:batchEmbedContents': BatchEmbedContentsRequest;
  '/v1/embeddings': EmbeddingRequest;
  '/v1/rerank': RankedTexts;
  '/v1/moderations': ModerationRequest;
  '/v1/images/generations': ImageGenerationRequest;
  '/v1/images/edits': ImageEditRequest;
  '/v1/images/variations': ImageVariationRequest;
  '/v1/audio/speech': SpeechRequest;
  '/v1/audio/transcriptions': TranscriptionRequest;
  '/v1/audio/translations': TranslationRequest;
  '/v1/videos': VideoJobRequest;
  '/v1/videos/characters': VideoCharacterRequest;
  /** What follows is said in the events of the connection. */
  '/v1/realtime': { readonly model: string; readonly [field: string]: unknown };
}

export type UpstreamEndpoint = keyof UpstreamRequests;

/** Whether it is none of OpenAI's: only its maker, and who serves for it, has it. */
export const isMakersOwn = (endpoint: UpstreamEndpoint): boolean => endpoint === '/v1/messages' || endpoint.startsWith('/v1beta/');

/** The endpoints whose tokens out a bound can limit. */
export type BoundedEndpoint = Extract<
  UpstreamEndpoint,
  '/v1/chat/completions' | '/v1/completions' | '/v1/responses' | '/v1/messages' | '/v1beta/models:generateContent'
>;

/** A file of a multipart request. It may be opened anew for every attempt. */
export interface UpstreamFile {
  /** Name of the form field, `image[]` with its brackets. */
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  /** Length, bytes. */
  readonly bytes: number;
  open(): Readable;
}

/** One call of one model at one provider. */
export interface UpstreamCallOf<E extends UpstreamEndpoint> {
  readonly endpoint: E;
  /** The provider's own name for the model. */
  readonly model: string;
  /** The caller's request as it was validated; the gateway's own fields (`models`) are not for the provider. */
  readonly request: UpstreamRequests[E];
  /** Present where the request is a form rather than JSON: its files, in order. */
  readonly files?: readonly UpstreamFile[] | undefined;
  readonly stream: boolean;
  /**
   * The token bound that is held. It must reach the provider, whatever the caller wrote: it is what makes a cap binding. Null where the
   * endpoint knows no bound.
   */
  readonly maxOutputTokens: E extends BoundedEndpoint ? number : null;
  /** What is held for thought beside that bound, at providers that bill it so: it must reach them as well. */
  readonly thinkingTokens?: number | undefined;
  /** From sending the request to the answer's first body byte, milliseconds. */
  readonly firstByteTimeoutMs: number;
  /** Between two body bytes, milliseconds. */
  readonly idleTimeoutMs: number;
  /**
   * Called where no byte has come in time although the provider has the request: it may bill, so the call goes on until its signal is
   * aborted. Without it the call is cut.
   */
  readonly onOverdue?: (() => void) | undefined;
  /** Aborted when the caller hangs up: the call at the provider is cancelled, and `call` resolves with a fault of kind `cancelled`. */
  readonly signal: AbortSignal;
  /** `anthropic-beta` of the request; only who speaks Messages reads it. */
  readonly betas?: string | undefined;
  /** `X-Sandbox-Fault` of the request; only the sandbox provider looks at it. */
  readonly sandboxFault?: string | undefined;
  /** The gateways that the request has come through, this one last: sent along, so that one that sees it again stops it. */
  readonly via?: string | undefined;
  /** `traceparent` of the W3C: the span of this call. Absent where nothing is traced. */
  readonly traceparent?: string | undefined;
}

/** What a gateway tells a provider, which may be another gateway, of the way of a request. */
export const VIA_HEADER = 'x-tallygate-via';

/** What is asked once and answered once: all but connections. */
export type UpstreamCall = { [E in Exclude<UpstreamEndpoint, '/v1/realtime'>]: UpstreamCallOf<E> }[Exclude<
  UpstreamEndpoint,
  '/v1/realtime'
>];
export type ChatCall = UpstreamCallOf<'/v1/chat/completions'>;

/** A look at something that lives at the provider: a job that a call began. */
export interface UpstreamRead {
  readonly method: 'GET' | 'DELETE';
  /** Below the base URL, with its query: `/videos/video_1/content?variant=thumbnail`. */
  readonly path: string;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** A connection to a realtime model, whose events are OpenAI's both ways. */
export interface UpstreamOpening extends Pick<UpstreamCallOf<'/v1/realtime'>, 'model' | 'via' | 'traceparent' | 'sandboxFault'> {
  /** From the beginning to the provider's agreement, milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when nobody waits for it any more; no part of what happens on the connection later. */
  readonly signal: AbortSignal;
  /** For each large event of the provider; undefined where they reserve no memory. */
  readonly newReservation?: (() => MemoryReservation) | undefined;
}

export interface UpstreamConnection {
  readonly ok: true;
  readonly socket: EventSocket;
}

/**
 * An answer whose head is there and whose body has begun. Its bytes are those of the call's endpoint: JSON, server-sent events, audio.
 * Exactly one of `collect` and `pump` is called, once.
 */
export interface UpstreamAnswer {
  readonly ok: true;
  readonly status: number;
  /** Media type of the body as the provider states it, with its parameters; null where it states none. */
  readonly contentType: string | null;
  /** A header of the answer; null where it has none of that name. Absent where nothing came by HTTP. */
  header?(name: string): string | null;
  /**
   * Reads the whole body. Rejects with {@link UpstreamCut}. One that is longer than `maxBytes` is not kept, but read to its end for what it
   * says of its usage: `onTooLarge` is called at once, and it rejects with `too_large` in the end.
   */
  collect(maxBytes: number, onTooLarge?: () => void): Promise<Buffer>;
  /**
   * Hands every chunk to `onChunk` in order, and waits where it returns a promise (back-pressure reaches the provider).
   * Resolves after the last byte of a complete body; rejects with {@link UpstreamCut} when the body breaks off or stalls. Of a body that has
   * to be translated, a part may be too large for that: `onTooLarge` is called, no chunk comes after it, and as with `collect` it is read to
   * its end for its usage.
   */
  pump(onChunk: (chunk: Buffer) => void | Promise<void>, onTooLarge?: () => void): Promise<void>;
  /** Cancels the call at the provider, as the call's signal does; a running `collect` or `pump` rejects with {@link UpstreamCut}. Harmless after the end. */
  abort(): void;
  /**
   * The most that the provider has said of its usage while it answers, in OpenAI's form: the prompt exactly, of what comes out what it had
   * counted by then, if anything. For streams that never reach their end. Absent where nothing is known early.
   */
  usageSoFar?(): unknown;
  /** Of a translated stream: the provider has said of its usage that it was less than it had said before. The larger was passed on. */
  readonly hasUsageDecreased?: boolean;
}

/** No answer: what went wrong, decided once, here, for everybody who acts on it. */
export interface UpstreamFault {
  readonly ok: false;
  /**
   * `rejected`: the request itself is at fault, another deployment would say the same. `rate_limited`: 429.
   * `timeout`: no first byte in time, and the provider does not bill. `cancelled`: the signal was aborted. `failed`: everything else (5xx, 408, 409, refused credentials,
   * connection trouble).
   */
  readonly kind: 'rejected' | 'rate_limited' | 'timeout' | 'cancelled' | 'failed';
  /** Whether another deployment, or the same one later, may answer. */
  readonly retryable: boolean;
  /** The provider's HTTP status, null when none came. */
  readonly status: number | null;
  /** The provider's `Retry-After` (or `retry-after-ms`), milliseconds. */
  readonly retryAfterMs: number | null;
  /** Bounded in length; shown to the caller for `rejected` only. For logs there is {@link reasonOf}. */
  readonly message: string;
  /** `message` has the provider's own words, which may repeat the prompt. */
  readonly isQuoted?: true;
  /** OpenAI's `error.param` where the provider named one. */
  readonly param: string | null;
  /** OpenAI's `error.code` where the provider named one. */
  readonly code: string | null;
  /** OpenAI's `error.type` where the provider named one. */
  readonly type?: string | null;
  /** What the provider says beside its error that it has used, as in an answer of the call's endpoint; absent where it says nothing. */
  readonly usage?: unknown;
  /**
   * It had the whole request, and what came in place of an answer says nothing of it: its connection ended, or a proxy waited no longer.
   * It may go on with its work and bill it. Absent where it did not get the request, or gave an answer or an error.
   */
  readonly mayBeAtWork?: true;
  /** It was not asked: what the operator lets this gateway ask of it is used up. */
  readonly isOwnLimit?: true;
  /** It began an answer and gave none, for which it bills: what of it came. Absent where it began none, or says that it failed. */
  readonly begun?: Begun;
}

/** What came of an answer that broke off, or is none. */
export interface Begun {
  readonly bytes: Buffer;
  /** The most that was said of its usage while it came. */
  readonly said?: ReceiptUsage | undefined;
}

export { isDecrease, laterUsage as laterMessageUsage, usageOf as messageUsageOf } from './anthropic/usage.ts';
export { isKeptAtGoogle } from './google/kept-files.ts';
export { SERVICE_TIER_HEADER as GOOGLE_TIER_HEADER, tierIn as googleTierIn } from './google/service-tier.ts';
export { isDecrease as isGoogleDecrease, largerUsage as largerGoogleUsage, usageOf as googleUsageOf } from './google/usage.ts';

const NAME = /^[\w.-]+$/;

/** Why there is no answer, for a log: what may repeat the prompt is left out. */
export function reasonOf({ isQuoted, message, status, code }: Pick<UpstreamFault, 'isQuoted' | 'message' | 'status' | 'code'>): string {
  if (!isQuoted) return message;
  const named = code !== null && NAME.test(code) ? ` (${code})` : '';
  return status === 200 ? `The provider's answer says that it failed${named}.` : `The provider answered with status ${status}${named}.`;
}

/** The body broke off, stalled, or was cancelled. */
export class UpstreamCut extends Error {
  readonly reason: 'reset' | 'idle_timeout' | 'aborted' | 'too_large';
  /** Its members that tell of its usage, in OpenAI's form. Of one that was too large undefined where it did not end as JSON does. */
  readonly found: Readonly<Record<string, unknown>> | undefined;
  /** What came of a body that was to be kept whole. */
  readonly came: Buffer | undefined;

  constructor(
    reason: UpstreamCut['reason'],
    { cause, found, came }: { cause?: unknown; found?: UpstreamCut['found']; came?: Buffer | undefined } = {},
  ) {
    super(reason === 'too_large' ? "The provider's answer is too large" : `The provider's answer ended early: ${reason}`, { cause });
    this.name = 'UpstreamCut';
    this.reason = reason;
    this.found = found;
    this.came = came;
  }
}

/** What is left of the limits that are set for a provider's key. */
export interface UpstreamAllowance {
  /** The limits themselves; null where none is set. */
  readonly limits: {
    readonly requestsPerMinute: number | null;
    readonly tokensPerMinute: number | null;
    readonly concurrency: number | null;
  };
  /** Milliseconds until a call may be sent; 0 where one may be sent now. */
  freeInMs(): number;
  /** To be told how many tokens a call has used, when it has ended. */
  used(tokens: number): void;
}

/** A provider behind the one port. Adapters translate and nothing else: no retry, no price, no log, no choice. */
export interface UpstreamProvider {
  /**
   * Whether it can be asked in this dialect: because it speaks it, or because the adapter translates.
   * @param model the provider's own name for it, where not every model has the dialect
   */
  serves(endpoint: UpstreamEndpoint, model?: string): boolean;
  /**
   * Whether it reads what Google adds to a chat, `extra_body.google` and `extra_content.google`, which others refuse. Absent where it never does.
   * @param model the provider's own name for it
   */
  readsGoogleFields?(model: string): boolean;
  /** Whether it can be asked for a service tier, and says in its answer which one it was served at. Absent where it cannot. */
  readonly takesServiceTiers?: true;
  /** Resolves at the answer's first body byte (or its end, if empty), or with the fault that took its place. Never rejects. */
  call(call: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault>;
  /** As `call`, for what lives at the provider. Absent where nothing does. */
  read?(read: UpstreamRead): Promise<UpstreamAnswer | UpstreamFault>;
  /** Opens a connection to a realtime model, or says why it cannot. Never rejects. Absent where the provider has none. */
  connect?(opening: UpstreamOpening): Promise<UpstreamConnection | UpstreamFault>;
  close(): Promise<void>;
}
