import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePage } from './page.ts';

const CHANGESETS = '../../.changeset';
const RELEASED = {
  Gateway: '../../packages/tallygate-server/CHANGELOG.md',
  'Command line': '../../cli/CHANGELOG.md',
  SDK: '../../sdk/CHANGELOG.md',
  Receipts: '../../packages/receipts/CHANGELOG.md',
};

/** The released changes, below those of the next release. */
export function changelogPage(): void {
  const next = readdirSync(CHANGESETS)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => /^---\n[\s\S]*?\n---\n+([\s\S]*)$/.exec(readFileSync(join(CHANGESETS, file), 'utf8'))?.[1]?.trim() ?? '')
    .filter((text) => text !== '')
    .map((text) => `- ${text.replaceAll('\n', '\n  ')}`);
  const released = Object.entries(RELEASED)
    .filter(([, file]) => existsSync(file))
    .flatMap(([name, file]) => [
      `## ${name}`,
      '',
      readFileSync(file, 'utf8')
        .replace(/^# .+\n+/, '')
        .replaceAll(/^#/gm, '##'),
      '',
    ]);
  writePage('changelog/index.md', { title: 'Changelog', description: 'What changed, newest first.' }, [
    ...(next.length > 0 ? ['## Next release', '', ...next, ''] : []),
    ...released,
  ]);
}
