import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JournalEntry } from '../adapters/lanes/port.ts';
import { silentLog } from '../kernel/log.ts';
import { createMetrics } from './metrics.ts';
import { openQuarantine, Quarantine } from './quarantine.ts';

test('settlements that were set aside before a restart are counted after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-quarantine-'));
  mkdirSync(join(folder, 'journal'));
  const dataDir = { path: folder, file: (...segments: string[]) => join(folder, ...segments), release: () => {} };
  /** A process: what it counts at its start, and with one more. */
  const start = () => {
    const metrics = createMetrics();
    const { onRefused: setAside, onDamage, waiting } = openQuarantine({ dataDir, metrics, log: silentLog() });
    const counted = async () => /^tallygate_settlements_quarantined_total (\d+)$/m.exec((await metrics.render()).body)?.[1];
    return { setAside, onDamage, waiting, counted };
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
  expect(second.waiting()).toBe(3);
  rmSync(folder, { recursive: true });
});

test('a damaged line is set aside whole and once, however often it is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-quarantine-'));
  mkdirSync(join(folder, 'journal'));
  const dataDir = { path: folder, file: (...segments: string[]) => join(folder, ...segments), release: () => {} };
  const { onDamage, waiting } = openQuarantine({ dataDir, metrics: createMetrics(), log: silentLog() });
  const line = `0badc0de ${'x'.repeat(5_000)}`;
  for (let reads = 0; reads < 2; reads += 1) onDamage('settlements-1.log', line);
  onDamage('settlements-1.log', `${line}y`);
  expect(waiting()).toBe(2);
  const bytes = Buffer.from([0, 200, 255, 10, 65]);
  for (let reads = 0; reads < 2; reads += 1) onDamage('settlements-2.log', bytes);
  expect(new Quarantine(join(folder, 'journal')).waiting()).toMatchObject([
    { segment: 'settlements-1.log', damaged: line },
    { segment: 'settlements-1.log', damaged: `${line}y` },
    { segment: 'settlements-2.log', damaged: bytes.toString('base64'), encoding: 'base64' },
  ]);
  rmSync(folder, { recursive: true });
});

test('quarantined entries are booked again or given up, and new ones stay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-quarantine-'));
  const quarantine = new Quarantine(folder);
  const entry = (record: string): JournalEntry => ({
    ...{ record, charged: 2n, debt: 1n, covered: { tokens: 7n } },
    ...{ waived: 3n, caps: { key: 4n } },
  });
  for (const record of ['"good"', '"bad"']) quarantine.add(entry(record), new Error('refused'));
  quarantine.addDamaged('settlements-1.log', 'torn');
  const asked: JournalEntry[] = [];
  quarantine.askForReplay();
  expect(quarantine.isAsked).toBe(true);
  const replayed = await quarantine.replay(async (asides) => {
    asked.push(...asides.map((aside) => aside.entry));
    quarantine.add(entry('"late"'), new Error('refused'));
    return new Set(asides.filter((aside) => aside.entry.record !== '"good"'));
  });
  expect(replayed).toEqual({ booked: 1, left: 2 });
  expect(quarantine.isAsked).toBe(false);
  expect(asked).toEqual([entry('"good"'), entry('"bad"')]);
  expect(
    quarantine
      .waiting()
      .map(({ record, damaged }) => record ?? damaged)
      .sort(),
  ).toEqual(['"bad"', '"late"', 'torn']);
  expect(quarantine.giveUp()).toBe(3);
  expect(quarantine.waiting()).toEqual([]);
  rmSync(folder, { recursive: true });
});
