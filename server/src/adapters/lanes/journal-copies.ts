import type { JournalBatch, JournalEntry, SettlementFeed } from './port.ts';
import type { JournalPosition, SettlementJournal } from './settlement-journal.ts';

interface JournalCopiesDeps {
  readonly journal: Pick<SettlementJournal, 'read' | 'position'>;
  /** Which of these the ledger does not have. */
  readonly unwrittenAmong: (entries: readonly JournalEntry[]) => Promise<readonly JournalEntry[]>;
}

/**
 * The journal of a gateway whose settlements reach the ledger through Redis: copies, for the case that Redis loses them. It hands out what
 * the ledger does not have, and forgets what it has. Nothing else makes it forget an entry.
 */
export class JournalCopies implements SettlementFeed {
  readonly #deps: JournalCopiesDeps;
  /** Only what was appended before it is handed out. */
  #before: JournalPosition;

  constructor(deps: JournalCopiesDeps) {
    this.#deps = deps;
    this.#before = deps.journal.position();
  }

  /** What has been appended by now is handed out from now on. Until then it is on its way to the ledger through Redis. */
  advance(): void {
    this.#before = this.#deps.journal.position();
  }

  async read(): Promise<JournalBatch> {
    const { journal, unwrittenAmong } = this.#deps;
    for (;;) {
      const batch = await journal.read(this.#before);
      if (batch.entries.length + batch.ceilings.length === 0) return batch;
      const entries = await unwrittenAmong(batch.entries);
      if (entries.length + batch.ceilings.length > 0) return { ...batch, entries };
      batch.acknowledge();
    }
  }

  /** Nothing is handed out at once. */
  onAppend(): void {}
}
