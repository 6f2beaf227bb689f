/** Memory that one large body or message reserves before the rest of it is read. */
export interface MemoryReservation {
  /**
   * Resolves once there is enough, at once where there is.
   * @param most of the body, bytes: one that is larger than all the memory gets all of it
   * @throws Problem `shared_capacity_full` where there was not enough in time
   */
  acquire(most: number): Promise<void>;
  /** Gives back what was acquired; who still waits does so no longer. */
  release(): void;
}
