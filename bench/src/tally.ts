/** How many successes one server has sent: what its ledger has to know. */
export class Tally {
  #answers = 0;

  count(): void {
    this.#answers += 1;
  }

  /** Answers that nobody has read: the ledger has them all the same. */
  countUnread(answers: number): void {
    this.#answers += answers;
  }

  get answers(): number {
    return this.#answers;
  }
}
