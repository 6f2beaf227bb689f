import type { ReceiptUsage } from '@tallygate/contract';
import type { UpstreamAnswer } from '../../adapters/upstream/port.ts';
import type { Soon } from '../../kernel/soon.ts';
import type { ToolUsage } from '../../money/catalog/index.ts';

/** Tools that the provider ran, as far as the answer says it. */
export interface RunTools {
  readonly calls: number;
  readonly usage: ToolUsage;
}

/** What was delivered, as far as it was kept and as the endpoint's form writes it down, and by how much it has to be scaled up where not all of it was. */
export interface Delivered {
  readonly text: string;
  readonly scale: number;
  /** What the provider ran, where the request lets it run anything. */
  readonly tools?: RunTools;
}

/** What the answer cost, to be shown in it. */
export interface ShownCost {
  readonly usage: ReceiptUsage;
  /** USD, for people: the exact amount is in the receipt. */
  readonly costUsd: number;
}

/** A whole answer. */
export interface PlainAnswer {
  readonly contentType: string;
  /** What the provider counted; undefined where it did not say, or nothing that can be a count. */
  readonly usage: ReceiptUsage | undefined;
  /** The least that it costs, where that is no count of the whole. */
  readonly usageSaid?: ReceiptUsage | undefined;
  readonly delivered: Delivered;
  /** The service tier that it names. */
  readonly serviceTier?: string | undefined;
  /** What is kept of it, where the request asks for that. */
  readonly value: unknown;
  /** The provider says in it that it failed, and what it has used all the same. */
  readonly hasFailed?: true;
  /** It was not kept, because it is too large: the client is told so. */
  readonly isTooLarge?: true;
  /** The bytes for the client. */
  toBytes(cost: ShownCost): Soon<Buffer>;
}

/** What a provider said went wrong after its stream had begun. */
export interface StreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
}

/** A streamed answer on its way to the client. */
export interface StreamFilter {
  readonly contentType: string;
  /** Takes bytes in, gives back those that may go on: never the last event. One call at a time: a large event takes a while. */
  push(chunk: Buffer): Soon<Buffer>;
  /** The provider closed the stream. */
  end(): Soon<Buffer>;
  /** Nothing more is taken in: the end was announced, an error was, or the bytes are none of this endpoint. */
  readonly isOver: boolean;
  /** Whether the bytes so far are no answer of this endpoint. */
  readonly isInvalid: boolean;
  /** Something of it was too large to be kept: nothing is passed on from there, and the rest is looked through for its usage. */
  readonly isTooLarge: boolean;
  /** An event of it could not be read after others had passed: as with one that is too large. */
  readonly isUnreadable?: boolean;
  readonly error: StreamError | undefined;
  readonly isComplete: boolean;
  /** What the provider counted of the whole, as far as it has said: at its end, or with the error in place of that. */
  readonly usage: ReceiptUsage | undefined;
  /** The most that the provider has said by now, which it bills at least. Absent where it says nothing before its end. */
  readonly usageSaid?: ReceiptUsage | undefined;
  /** What the provider has said of the prompt by now, where what it says of that is exact. */
  readonly promptSaid?: ReceiptUsage | undefined;
  /** The service tier that it has named by now. */
  readonly serviceTier?: string | undefined;
  /** The provider has said of its usage that it was less than it had said before. */
  readonly hasUsageDecreased?: boolean;
  delivered(): Delivered;
  /** What is kept of it, where the request asks for that; known once it is complete. */
  readonly value: unknown;
  /** The bytes that end a complete stream, with its cost where it shows one. */
  lastBytes(cost: ShownCost): Soon<Buffer>;
  /** The bytes that end a stream that broke; undefined where no error can be told apart from the answer, sound for one. */
  errorBytes(error: StreamError): Buffer | undefined;
}

/** A header of an answer; null where it has none of that name. */
export type HeaderOf = (name: string) => string | null;

export const headersOf =
  (answer: Pick<UpstreamAnswer, 'header'>): HeaderOf =>
  (name) =>
    answer.header?.(name) ?? null;

/** How the answers of an endpoint are read. */
export interface AnswerForm {
  /** Undefined: the bytes are no answer of this endpoint. */
  read(bytes: Buffer, contentType: string | null, headerOf?: HeaderOf): Soon<PlainAnswer | undefined>;
  openStream(contentType: string | null, headerOf?: HeaderOf): StreamFilter;
  /** What an answer cost that is too large to be read, by the `usage` that was found in it. */
  usageIn(usage: unknown): ReceiptUsage | undefined;
}
