/** A schema that the sampler does not serve; the message says why, in words for the caller. */
export class SchemaRefusal extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SchemaRefusal';
  }
}

/**
 * A schema comes from a caller, and a few hundred bytes of it can describe more work than a process has time for
 * (references that double at each level, a million required items, a pattern with nested repeats). So all of it is counted.
 */
export class WorkBudget {
  #left: number;

  /** @param steps how many steps there are in all */
  constructor(steps: number) {
    this.#left = steps;
  }

  /** Takes `steps` off; throws {@link SchemaRefusal} when there are none left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (!(this.#left >= 0)) throw new SchemaRefusal('the schema asks for more work than the sandbox does');
  }
}
