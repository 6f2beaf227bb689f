import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SettlementJournal } from '../settlement-journal.ts';

/** Journals in a folder that goes with the tests of a file. A damaged line throws. */
export class ScratchJournals {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tallygate-journals-'));

  /** @param dir of an earlier process, whose journal is found again */
  open(dir = mkdtempSync(join(this.#folder, 'journal-'))): SettlementJournal & { readonly dir: string } {
    const journal = new SettlementJournal(dir, (segment, line) => {
      throw new Error(`${segment}: ${line}`);
    });
    return Object.assign(journal, { dir });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
