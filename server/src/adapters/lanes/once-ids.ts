import type { JournalPosition } from './settlement-journal.ts';

interface Mark {
  readonly position: JournalPosition;
  /** When it was first seen to be in the ledger, on the clock of the lanes. */
  writtenAt: number | undefined;
}

/** A process that has looked into the ledger before it was written there comes within that time. */
const KEPT_MS = 3_600_000;

/** What must not be done twice. An id is kept until the ledger has known it for an hour: from then on the ledger is asked first. */
export class OnceIds {
  readonly #marks = new Map<string, Mark>();
  readonly #isWritten: (position: JournalPosition) => boolean;

  constructor(isWritten: (position: JournalPosition) => boolean) {
    this.#isWritten = isWritten;
  }

  has(id: string): boolean {
    return this.#marks.has(id);
  }

  add(id: string, position: JournalPosition): void {
    this.#marks.set(id, { position, writtenAt: undefined });
  }

  forget(now: number): void {
    for (const [id, mark] of this.#marks) {
      if (mark.writtenAt === undefined && this.#isWritten(mark.position)) mark.writtenAt = now;
      if (mark.writtenAt !== undefined && mark.writtenAt + KEPT_MS <= now) this.#marks.delete(id);
    }
  }
}
