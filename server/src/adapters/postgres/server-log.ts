import { copyFileSync, statSync, truncateSync } from 'node:fs';

const LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * Keeps a log that another process appends to within bounds: beyond 8 MiB it is copied to `<path>.1` and emptied in place, which
 * a writer in append mode does not notice.
 */
export function boundLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < LIMIT_BYTES) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
}
