import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { vectorFiles } from './vector-files.ts';

const folder = join(import.meta.dirname, '../vectors');

// A vector that was renamed must not live on under its old name.
for (const generated of ['good', 'broken', 'chain', 'exports', 'invoices', 'promises', 'succession', 'declarations'])
  rmSync(join(folder, generated), { recursive: true, force: true });
for (const [path, text] of vectorFiles()) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
