import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { JournalEntry } from '../adapters/lanes/port.ts';
import type { Foundation } from './foundation.ts';

const LINE_FEED = 10;

/**
 * Sets settlements aside that the database refuses. Those of earlier processes are counted first: each one needs a person, also after a restart.
 */
export function openQuarantine({
  dataDir,
  metrics,
  log,
}: Pick<Foundation, 'dataDir' | 'metrics' | 'log'>): (entry: JournalEntry, error: unknown) => void {
  const file = dataDir.file('journal', 'quarantine.jsonl');
  const before = existsSync(file) ? readFileSync(file).filter((byte) => byte === LINE_FEED).length : 0;
  if (before > 0) {
    metrics.quarantined(before);
    log.error({ settlements: before }, 'settlements that the database refused wait in journal/quarantine.jsonl for a person');
  }
  return ({ record, charged, debt }, error) => {
    metrics.quarantined(1);
    log.fatal({ err: error }, 'the database refuses a settlement; it is set aside in journal/quarantine.jsonl');
    const line = JSON.stringify({ charged: `${charged}`, debt: `${debt}`, record });
    appendFileSync(file, `${line}\n`, { mode: 0o600 });
  };
}
