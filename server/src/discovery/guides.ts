import { readdirSync, readFileSync } from 'node:fs';

/** A page of the documentation. */
export interface Guide {
  /** `guides/runs`: where it is below `/docs`, without the ending. */
  readonly path: string;
  readonly title: string;
  /** Its first sentence, in plain words. */
  readonly summary: string;
  /** Markdown. */
  readonly text: string;
}

/** What a newcomer reads first comes first. */
const SECTIONS = ['start', 'concepts', 'guides'];

/** The pages below a folder, by section and name. None where there is no such folder: a gateway may be installed without its documentation. */
export function readGuides(docs: URL): Guide[] {
  return SECTIONS.flatMap((section) => {
    const folder = new URL(`${section}/`, docs);
    return namesIn(folder).map((name) => guideOf(`${section}/${name}`, readFileSync(new URL(`${name}.md`, folder), 'utf8')));
  });
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

function guideOf(path: string, text: string): Guide {
  const [heading = '', ...paragraphs] = text.split(/\n\s*\n/);
  const first = paragraphs.find((paragraph) => /^[\p{L}`*[]/u.test(paragraph)) ?? '';
  return { path, title: heading.replace(/^#+\s*/, '').trim(), summary: firstSentence(first), text };
}

function firstSentence(paragraph: string): string {
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return (/^.*?[.:](?=\s|$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.').trim();
}
