import { readdirSync, readFileSync } from 'node:fs';

/** A guide of the documentation. */
export interface Guide {
  /** `runs`: the file’s name. */
  readonly name: string;
  readonly title: string;
  /** Its first sentence, in plain words. */
  readonly summary: string;
  /** Markdown. */
  readonly text: string;
}

/** The guides in a folder, by name. None where there is no such folder: a gateway may be installed without its documentation. */
export function readGuides(folder: URL): Guide[] {
  return namesIn(folder).map((name) => guideOf(name, readFileSync(new URL(`${name}.md`, folder), 'utf8')));
}

function namesIn(folder: URL): string[] {
  try {
    return readdirSync(folder)
      .flatMap((file) => /^([a-z0-9-]+)\.md$/.exec(file)?.[1] ?? [])
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function guideOf(name: string, text: string): Guide {
  const [heading = '', ...paragraphs] = text.split(/\n\s*\n/);
  const first = paragraphs.find((paragraph) => /^[\p{L}`*[]/u.test(paragraph)) ?? '';
  return { name, title: heading.replace(/^#+\s*/, '').trim(), summary: firstSentence(first), text };
}

function firstSentence(paragraph: string): string {
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return (/^.*?[.:](?=\s|$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.').trim();
}
