import type { ServerResponse } from 'node:http';
import type { PriceMeter, ReceiptUsage } from '@tallygate/contract';
import type { CatalogModel, UsageBound } from '../../money/catalog/index.ts';
import type { Delivered, ShownCost, StreamError } from './answer-form.ts';
import type { CallContext, KeptCall } from './call-context.ts';
import type { Placed } from './dialect.ts';
import type { Served } from './served.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Something that not every model can do. */
export interface Requirement {
  readonly capability: string;
  /** The request field that asks for it. */
  readonly param: string;
}

/** A unit that the request lets the provider bill. */
export interface MeterNeeded {
  readonly meter: PriceMeter;
  /** The request field that asks for it. */
  readonly param: string;
}

/** The bound on tokens out, where the endpoint has one. */
export interface OutputBound {
  /** What the caller asks for, of one choice; undefined where they leave it open. */
  readonly asked: number | undefined;
  /** How many answers each take so much. */
  readonly choices: number;
  /** A rough count of the prompt: what is left of a model's window behind it is the most that is worth asking for. */
  readonly roughPromptTokens: number;
}

/** Worst case of everything but the tokens out that an {@link OutputBound} limits. */
export interface WorkBound extends UsageBound {
  /** Images made, for the plan's quota. */
  readonly images?: number;
}

/**
 * What a request asks for, as far as the one path through admission, providers and settlement has to know. Every endpoint that can spend
 * makes one; no other way leads to a provider.
 */
export interface Work extends Placed {
  /** As the interface names it; what usage and receipts are filed under. */
  readonly endpoint: string;
  readonly model: string;
  /** The caller's own, in order. */
  readonly fallbackModels: readonly string[];
  readonly isStream: boolean;
  /** Whether a stream may as well be given whole, to those who want to repeat the request under an `Idempotency-Key`. */
  readonly mayBeWhole?: true;
  /**
   * Whether the answer of one that is no stream may be so large that it is passed on as it comes. Who wants to repeat the request under an
   * `Idempotency-Key` is given it whole, as long as it can be kept.
   */
  readonly isPassedOn?: true;
  readonly needs: readonly Requirement[];
  /** What has to have a price beside what models of the kind are charged by. */
  readonly meters?: readonly MeterNeeded[];
  readonly output: OutputBound | null;
  /** What makes it cheaper, as an advice to the caller: "lower `n`". */
  readonly cheaper: string;
  /** What the prompt counts for in rate limits before it is counted. */
  readonly estimatedTokens: number;
  /** What the model may think beside the bound on tokens out, in each choice; in {@link bound} too. Absent: thought is within that bound. */
  thinkingTokens?(model: CatalogModel): number;
  /** The same with fewer calls of tools that the provider runs, where the caller has not said how many: tried where the whole does not fit. */
  lighter?(): Work;
  /** The text of the prompt, and the field that has it: at least so much is read. */
  readonly promptText?: { readonly param: string; text(): string };
  bound(model: CatalogModel): WorkBound;
  /** A tighter bound by counting the prompt; undefined where nothing in the request can be counted. */
  countedBound?(model: CatalogModel, tokenizer: Tokenizer): Promise<WorkBound | undefined>;
  /** Our own count where the provider sent none; never more than what is held. */
  estimate(model: CatalogModel, delivered: Delivered, maxOutputTokens: number | null, tokenizer: Tokenizer): Promise<ReceiptUsage>;
  /** SHA-256 of the request as received, hex. */
  requestSha256(): string;
  /** Keeps what the answer left to keep (stored completions, responses), before it is settled and before its last byte leaves. */
  keep?(answer: unknown, cost: ShownCost, served: Served, call: KeptCall): Promise<void>;
  /** Keeps a stream with all that was told, in place of `keep`; one that broke off too. */
  keepStream?(told: ToldStream, cost: ShownCost, served: Served, call: CallContext): Promise<void>;
  /** What it begins lives on at the provider, so it is neither cancelled nor charged when the client hangs up: it goes on. */
  readonly outlivesHangUp?: true;
  /** What is settled, where it is no answer but the beginning of a job. */
  readonly kind?: 'media_job';
  /** Where the work is to be done by a job: what takes it down instead. */
  readonly later?: Later;
}

/** A stream that is over, before its last event has left. */
export interface ToldStream {
  /** Its bytes as they were sent, the last event of a complete one with them; undefined where they were too many to be kept. */
  readonly events: Buffer | undefined;
  readonly isComplete: boolean;
  /** Of a complete one, what is kept of it. */
  readonly value: unknown;
  /** What ended one that is not complete; undefined where its client hung up. */
  readonly error: StreamError | undefined;
}

/** Work that is taken down now, once its worst case is found to fit, and done in the background. */
export interface Later {
  /** Resolves to the JSON that says so. */
  accept(call: CallContext): Promise<object>;
  /** Its events as they come, until it is over. */
  follow(call: CallContext, res: ServerResponse): Promise<void>;
}
