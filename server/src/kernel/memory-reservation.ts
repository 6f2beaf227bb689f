/** A large body or message that is arriving. */
export interface Arrival {
  /** Bytes of it at most: of one that is larger than all the memory, all of it is reserved. */
  readonly most: number;
  /** In so many milliseconds all of it has to be there. */
  readonly withinMs: number;
  /** Bytes of it that have come. */
  come(): number;
  /** Others wait, and it comes too slowly to be there in time: it is not read on, and its reservation is released. */
  giveWay(): void;
}

/** Memory that one large body or message reserves before the rest of it is read. */
export interface MemoryReservation {
  /**
   * Resolves once there is enough, at once where there is.
   * @throws Problem `shared_capacity_full` where there was not enough in time
   */
  acquire(arrival: Arrival): Promise<void>;
  /** All of it has come, so many bytes: no more than these stay reserved. */
  complete(bytes: number): void;
  /** Gives back what was acquired; who still waits does so no longer. */
  release(): void;
}
