import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenEpoch } from '../redis/partition-scripts.ts';
import type { RedisConnection } from '../redis/run-script.ts';
import { SettlementJournal } from '../settlement-journal.ts';
import { scratchEpochs } from './scratch-epochs.ts';

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

  /** What lanes in Redis need of their process, in an epoch that nothing ends. */
  process(redis: RedisConnection, prefix: string): { journal: SettlementJournal; epochs: OpenEpoch; gateway: string } {
    return { journal: this.open(), epochs: scratchEpochs(redis, prefix), gateway: randomUUID() };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
