import type { LogFindings } from './views/receipt-log.ts';

const MB = 1024 * 1024;

const ROWS: readonly [what: string, unit: string, of: (found: LogFindings) => number][] = [
  ['appended', '/s', ({ appendedPerSecond }) => appendedPerSecond],
  ['hashes of a proof', '', ({ pathLength }) => pathLength],
  ['proof, p50', 'ms', ({ proofP50 }) => proofP50],
  ['proof, p99', 'ms', ({ proofP99 }) => proofP99],
  ['receipt with its proof, p50', 'ms', ({ receiptP50 }) => receiptP50],
  ['consistency proof, p50', 'ms', ({ consistencyP50 }) => consistencyP50],
  ['tile of 256 hashes, p50', 'ms', ({ tileP50 }) => tileP50],
  ['tiles of the tree', 'MB', ({ tilesBytes }) => tilesBytes / MB],
  ['checkpoints', 'MB', ({ checkpointsBytes }) => checkpointsBytes / MB],
  ['receipts', 'MB', ({ receiptsBytes }) => receiptsBytes / MB],
  ['tree and checkpoints an entry', 'bytes', ({ tilesBytes, checkpointsBytes, entries }) => (tilesBytes + checkpointsBytes) / entries],
];

/** A column for each size. */
export function logTable(found: readonly LogFindings[]): string {
  const lines = [
    ['entries', '', ...found.map(({ entries }) => entries.toLocaleString('en'))],
    ...ROWS.map(([what, unit, of]) => [what, unit, ...found.map((findings) => shown(of(findings)))]),
  ];
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '))
    .join('\n');
}

const shown = (value: number): string =>
  Number.isNaN(value)
    ? '–'
    : value >= 100 || Number.isInteger(value)
      ? Math.round(value).toLocaleString('en')
      : value.toFixed(value >= 10 ? 1 : 2);
