import { readFileSync } from 'node:fs';

/** A line of the first table of the page of attacks. */
interface AttackRow {
  /** As the test of it is called. */
  readonly title: string;
  readonly name: string;
  readonly who: string;
  readonly command: string;
  readonly exitCode: number;
  readonly within: string;
}

const ROW = /^\| \*\*(.+?)\*\*: (.+?) +\| (.+?) +\| `(.+?)` +\| (\d) +\| (.+?) +\|$/gm;

export function attacksOfPage(): AttackRow[] {
  const page = readFileSync(new URL('../../../docs/guides/attacks.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('## Each attack');
  return [...table.matchAll(ROW)].map(([, name = '', what, who = '', command = '', exitCode, within = '']) => ({
    ...{ title: `${name}: ${what}`, name, who, command, within },
    exitCode: Number(exitCode),
  }));
}
