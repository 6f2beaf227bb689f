import type { ReceiptUsage } from '@tallygate/contract';
import { joined } from '../../kernel/joined.ts';
import { andThen, inOrder, type Soon } from '../../kernel/soon.ts';
import type { ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { dataOf, type Json, jsonOf, LONGEST_PARSED, readLarge } from './event-data.ts';
import { eventsOf } from './event-frames.ts';

/** What events are passed on by. Of usage each has its own form. */
type EventSource = Omit<StreamFilter, 'contentType' | 'usage' | 'value' | 'lastBytes' | 'errorBytes'>;

const EMPTY = Buffer.alloc(0);

/** A stream that is made of the events of another one, which knows how that ended. */
export abstract class DerivedStream<S extends EventSource> implements StreamFilter {
  abstract readonly contentType: string;
  protected readonly source: S;
  #isLeftOut = false;

  constructor(source: S) {
    this.source = source;
  }

  abstract get usage(): ReceiptUsage | undefined;
  abstract get value(): unknown;
  abstract lastBytes(cost: ShownCost): Soon<Buffer>;
  abstract errorBytes(error: StreamError): Buffer | undefined;
  /** What is said to the client for an event. */
  protected abstract said(event: Json | undefined, bytes: Buffer): Soon<Buffer>;

  /** What is made of the stream is too large to be kept: nothing more is said. */
  protected leaveOut(): void {
    this.#isLeftOut = true;
  }

  push(chunk: Buffer): Soon<Buffer> {
    return andThen(this.source.push(chunk), (events) => this.#translated(events));
  }

  end(): Soon<Buffer> {
    return andThen(this.source.end(), (events) => this.#translated(events));
  }

  get isOver(): boolean {
    return this.source.isOver;
  }

  get isInvalid(): boolean {
    return this.source.isInvalid;
  }

  get isTooLarge(): boolean {
    return this.source.isTooLarge || this.#isLeftOut;
  }

  get isUnreadable(): boolean {
    return this.source.isUnreadable ?? false;
  }

  get error(): StreamError | undefined {
    return this.source.error;
  }

  get isComplete(): boolean {
    return this.source.isComplete && !this.#isLeftOut;
  }

  get usageSaid(): ReceiptUsage | undefined {
    return this.source.usageSaid;
  }

  get hasUsageDecreased(): boolean {
    return this.source.hasUsageDecreased ?? false;
  }

  get serviceTier(): string | undefined {
    return this.source.serviceTier;
  }

  delivered() {
    return this.source.delivered();
  }

  #translated(events: Buffer): Soon<Buffer> {
    if (events.length === 0) return EMPTY;
    return andThen(
      inOrder(eventsOf(events), (event) => this.#saidOf(event)),
      joined,
    );
  }

  #saidOf(event: Buffer): Soon<Buffer> {
    if (this.#isLeftOut) return EMPTY;
    if (event.length <= LONGEST_PARSED) return this.said(jsonOf(dataOf(event.toString('utf8'))), event);
    return readLarge(event).then((large) => {
      if (large?.value) return this.said(large.value, event);
      // It has passed as an event: it is too complex to be looked into.
      this.#isLeftOut = true;
      return EMPTY;
    });
  }
}
