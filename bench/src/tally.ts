/** How many successes one server has sent: what its ledger has to know. */
export class Tally {
  #answers = 0;

  count(): void {
    this.#answers += 1;
  }

  get answers(): number {
    return this.#answers;
  }
}
