import type { ReceiptUsage } from '@tallygate/contract';
import { andThen, type Soon } from '../../../kernel/soon.ts';
import type { ShownCost, StreamError, StreamFilter } from '../answer-form.ts';
import { DerivedStream } from '../derived-stream.ts';
import { dataOf, type Json, LONGEST_PARSED, lineOfData } from '../event-data.ts';
import { streamedError } from './google-errors.ts';

const EMPTY = Buffer.alloc(0);
const END = Buffer.from(']');

/** Google's events as one list of JSON that grows, which it sends where no events are asked for. */
export class ListStream extends DerivedStream<StreamFilter> {
  readonly contentType = 'application/json';
  readonly value = undefined;
  #hasSpoken = false;

  get usage(): ReceiptUsage | undefined {
    return this.source.usage;
  }

  get promptSaid(): ReceiptUsage | undefined {
    return this.source.promptSaid;
  }

  lastBytes(cost: ShownCost): Soon<Buffer> {
    return andThen(this.source.lastBytes(cost), (event) => Buffer.concat([this.#listed(event), END]));
  }

  errorBytes(error: StreamError): Buffer {
    return Buffer.from(`${this.#hasSpoken ? ',' : '['}${JSON.stringify(streamedError(error))}]`);
  }

  protected said(_: Json | undefined, event: Buffer): Soon<Buffer> {
    return this.#listed(event);
  }

  #listed(event: Buffer): Buffer {
    const data = event.length > LONGEST_PARSED ? lineOfData(event)?.line : Buffer.from(dataOf(event.toString('utf8')) ?? '');
    if (!data || data.length === 0) return EMPTY;
    const before = Buffer.from(this.#hasSpoken ? ',\n' : '[');
    this.#hasSpoken = true;
    return Buffer.concat([before, data]);
  }
}
