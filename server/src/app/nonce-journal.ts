import { closeSync, existsSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import type { NonceJournal, Used } from '../inference/calls/index.ts';
import type { DataDir } from './data-dir.ts';

const CURRENT = 'nonces';
const PREVIOUS = 'nonces.previous';
/** Epoch milliseconds in eight bytes, then the digest. */
const ENTRY_BYTES = 24;

/**
 * Used nonces in two files of the data directory. Appended at once and not synced: what a process has written outlives its end, and only a
 * computer that loses power within the eleven minutes of a generation may forget the last ones.
 */
export function openNonceJournal(dataDir: Pick<DataDir, 'file'>): NonceJournal & { close(): void } {
  const [current, previous] = [dataDir.file(CURRENT), dataDir.file(PREVIOUS)];
  const known = { current: entriesOf(current), previous: entriesOf(previous) };
  const entry = Buffer.alloc(ENTRY_BYTES);
  let fd = openSync(current, 'a', 0o600);
  return {
    ...known,
    append({ digest, atMs }) {
      entry.writeBigUInt64BE(BigInt(atMs));
      entry.write(digest, 8, 'latin1');
      writeSync(fd, entry);
    },
    rotate() {
      closeSync(fd);
      renameSync(current, previous);
      fd = openSync(current, 'a', 0o600);
    },
    close: () => closeSync(fd),
  };
}

/** A last entry that was cut off is of a request that was never let through. */
function entriesOf(path: string): Used[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  return Array.from({ length: Math.floor(bytes.length / ENTRY_BYTES) }, (_none, index) => {
    const at = index * ENTRY_BYTES;
    return { atMs: Number(bytes.readBigUInt64BE(at)), digest: bytes.toString('latin1', at + 8, at + ENTRY_BYTES) };
  });
}
