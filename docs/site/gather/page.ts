import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { questionsOf } from './questions.ts';

export const OUT = 'src/content/docs';

/** A page as the sidebar knows it. */
export interface Page {
  readonly name: string;
  readonly title: string;
  readonly slug: string;
  readonly description: string;
}

/** @param path inside the content folder */
export function writePage(path: string, frontmatter: Readonly<Record<string, unknown>>, lines: readonly string[]): void {
  const file = join(OUT, path);
  mkdirSync(dirname(file), { recursive: true });
  const slug = path.replace(/(?:\/index)?\.mdx?$/, '');
  const head = Object.entries({ ...frontmatter, head: questionsOf(slug) }).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  writeFileSync(file, ['---', ...head, '---', '', ...lines, ''].join('\n'));
}

/** Markdown's marks taken out: for titles and descriptions. */
export function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll('\n', ' ')
    .trim();
}
