import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JournalEntry } from '../adapters/lanes/port.ts';
import { silentLog } from '../kernel/log.ts';
import { createMetrics } from './metrics.ts';
import { openQuarantine } from './quarantine.ts';

test('settlements that were set aside before a restart are counted after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-quarantine-'));
  mkdirSync(join(folder, 'journal'));
  const dataDir = { path: folder, file: (...segments: string[]) => join(folder, ...segments), release: () => {} };
  /** A process: what it counts at its start, and with one more. */
  const start = () => {
    const metrics = createMetrics();
    const setAside = openQuarantine({ dataDir, metrics, log: silentLog() });
    const counted = async () => /^tallygate_settlements_quarantined_total (\d+)$/m.exec((await metrics.render()).body)?.[1];
    return { setAside, counted };
  };
  const entry: JournalEntry = { record: '{"text":"two\\nlines"}', charged: 1n, debt: 0n, covered: {} };
  const first = start();
  expect(await first.counted()).toBe('0');
  first.setAside(entry, new Error('out of range'));
  first.setAside(entry, new Error('out of range'));
  expect(await first.counted()).toBe('2');
  const second = start();
  expect(await second.counted()).toBe('2');
  second.setAside(entry, new Error('out of range'));
  expect(await second.counted()).toBe('3');
  rmSync(folder, { recursive: true });
});
