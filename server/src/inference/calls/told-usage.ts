import type { ReceiptUsage } from '@tallygate/contract';
import { atLeast } from './usage.ts';

/** What a provider says of its usage while a stream comes. It can only grow: of one that says less later, the most counts. */
export class ToldUsage {
  #most: ReceiptUsage | undefined;
  #hasDecreased = false;

  get most(): ReceiptUsage | undefined {
    return this.#most;
  }

  /** The provider has contradicted itself. */
  get hasDecreased(): boolean {
    return this.#hasDecreased;
  }

  /** @param isReport says both sides; else what it says is the least */
  hear(said: ReceiptUsage | undefined, isReport: boolean): void {
    if (!said) return;
    if (isReport) this.#hasDecreased ||= isLess(said, this.#most);
    this.#most = atLeast(this.#most, said);
  }

  /** The most, were this said as well. */
  with(said: ReceiptUsage | undefined): ReceiptUsage | undefined {
    return said ? atLeast(this.#most, said) : this.#most;
  }
}

const isLess = (usage: ReceiptUsage, than: ReceiptUsage | undefined): boolean =>
  than !== undefined && (usage.input_tokens < than.input_tokens || usage.output_tokens < than.output_tokens);
