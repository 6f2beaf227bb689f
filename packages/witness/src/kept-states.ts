import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Checkpoint, parseCheckpoint } from '@tallygate/receipts';

/** The newest state of each log that was cosigned, a file each. One process writes a folder. */
export class KeptStates {
  readonly #folder: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
  }

  /** Undefined for a log of which nothing was cosigned yet. @throws for a file that was damaged: it must not count as a fresh start */
  read(origin: string): Checkpoint | undefined {
    const path = this.#pathOf(origin);
    if (!existsSync(path)) return undefined;
    const state = parseCheckpoint(readFileSync(path, 'utf8'));
    if (state?.origin !== origin) throw new Error(`${path} holds no state of ${origin}`);
    return state;
  }

  /** On the disk when this returns, whole or not at all. */
  write(origin: string, text: string): void {
    const path = this.#pathOf(origin);
    const file = openSync(`${path}.new`, 'w', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.new`, path);
    const folder = openSync(this.#folder, 'r');
    fsyncSync(folder);
    closeSync(folder);
  }

  #pathOf = (origin: string): string => join(this.#folder, `${createHash('sha256').update(origin).digest('hex')}.checkpoint`);
}
