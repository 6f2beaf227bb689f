import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a journal is known by, whichever process has it. @param dir that holds its segments */
export function journalNameOf(dir: string): string {
  const path = join(dir, 'name');
  const found = read(path);
  if (found !== undefined && NAME.test(found)) return found;
  const name = randomUUID();
  writeFileSync(path, name, { mode: 0o600, flush: true });
  return name;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
