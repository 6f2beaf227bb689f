import { Problem } from '../../kernel/problem.ts';

const RETRY_SECONDS = 1;

/**
 * Requests that this gateway serves at the same time for those without dedicated capacity: what it serves at all, less what contracts have
 * reserved, used or not. Counted from the moment a caller is known until the answer has ended, so that the work for a body counts too.
 */
export class SharedLane {
  readonly #concurrency: number;
  readonly #processes: number;
  #reserved = 0;
  #running = 0;

  /** @param processes that share it, each of which serves the same part of it */
  constructor(concurrency: number, processes = 1) {
    this.#concurrency = concurrency;
    this.#processes = processes;
  }

  /** @param concurrency of all contracts together. What is running stays. */
  reserve(concurrency: number): void {
    this.#reserved = concurrency;
  }

  /** @returns ends the request @throws Problem `shared_capacity_full` */
  enter(): () => void {
    const limit = Math.max(0, Math.floor((this.#concurrency - this.#reserved) / this.#processes));
    if (this.#running >= limit)
      throw new Problem('shared_capacity_full', `This gateway serves ${limit} requests at the same time: repeat the request in a second.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    this.#running += 1;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#running -= 1;
    };
  }
}
