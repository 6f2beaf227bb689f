import type { Finding } from './views/timing.ts';

const COLUMNS = ['', 'pairs', 'known', 'unknown', 'difference', '95 % interval', 'bound', 'p', 'verdict'];

/** Findings as aligned lines; times in milliseconds. */
export function timingTable(findings: readonly Finding[]): string {
  const lines = [COLUMNS, ...findings.map(cells)];
  const widths = COLUMNS.map((_column, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const isText = (at: number) => at === 0 || at === COLUMNS.length - 1;
  const aligned = (line: readonly string[]) =>
    line.map((cell, at) => (isText(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ');
  return lines.map((line) => aligned(line).trimEnd()).join('\n');
}

function cells({ what, pairs, known, unknown, difference, interval: [from, to], boundMs, p, verdict }: Finding): string[] {
  const range = `${signed(from)} … ${signed(to)}`;
  return [what, String(pairs), known.toFixed(3), unknown.toFixed(3), signed(difference), range, `±${boundMs}`, shownP(p), verdict];
}

const signed = (ms: number): string => `${ms < 0 ? '−' : '+'}${Math.abs(ms).toFixed(3)}`;
const shownP = (p: number): string => (p < 0.0001 ? '< 0.0001' : p.toFixed(4));
