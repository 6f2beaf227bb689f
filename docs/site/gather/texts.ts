import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Page, plain, writePage } from './page.ts';
import { hasTabs, withTabs } from './tabs.ts';

/** Files of the repository that have a page here; a link to any other one becomes its name. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'sdk/README.md': '/docs/clients/sdk/',
  'cli/README.md': '/docs/clients/cli/',
  'packages/receipts/README.md': '/docs/clients/receipts/',
};

/** What a page has here beyond its file. */
export interface Additions {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** At its end. */
  readonly lines: readonly string[];
}

const NOTHING: Additions = { frontmatter: {}, lines: [] };

/** The Markdown files of a folder beside the site. @param added by the name of the page */
export const pagesOfFolder = (folder: string, added: (name: string) => Additions = () => NOTHING): Page[] =>
  readdirSync(join('..', folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => (file === 'README.md' ? 'index' : file.slice(0, -3)))
    .map((name) => pageOfFile(join('..', folder, name === 'index' ? 'README.md' : `${name}.md`), folder, name, added(name)));

/** Its first heading is the title, its first paragraph the description, links between files are links between pages. */
export function pageOfFile(file: string, folder: string, name: string, { frontmatter, lines } = NOTHING): Page {
  const text = readFileSync(file, 'utf8');
  const title = plain(/^# (.+)$/m.exec(text)?.[1] ?? name);
  const body = text.replace(/^# .+\n+/m, '');
  const [first = ''] = body.split('\n\n');
  const description = plain(first);
  const shown = sayingWhatSessionIs(linked(body, folder));
  const [content, ending] = hasTabs(shown) ? [withTabs(shown), 'mdx'] : [shown, 'md'];
  writePage(`${folder}/${name}.${ending}`, { title, description, ...frontmatter }, [content, ...lines]);
  return { name, title, slug: name === 'index' ? folder : `${folder}/${name}`, description };
}

/** A reader who comes for one sample has not read the page that sets its variable. */
function sayingWhatSessionIs(text: string): string {
  if (text.includes('SESSION=') || text.includes('`$SESSION`')) return text;
  const sample = [...text.matchAll(/^```sh\n[\s\S]*?^```$/gm)].find(([block]) => block.includes('$SESSION'));
  if (!sample) return text;
  const note = '`$SESSION` is a session token: [log in](/docs/guides/identity/#log-in-and-out), and the shell has it.\n\n';
  return text.slice(0, sample.index) + note + text.slice(sample.index);
}

function linked(body: string, folder: string): string {
  return body.replaceAll(
    /\[([^\]]+)\]\(((?:\.\.\/)*)([\w./-]+?\.md|[\w./-]+\/?)(#[\w-]+)?\)/g,
    (link, label: string, up: string, path: string, anchor = '') => {
      const page = /^(?:docs\/)?(?:(start|concepts|guides|errors)\/)?([\w-]+)\.md$/.exec(path);
      // Two levels up is the repository, one level up a folder beside this one.
      if (up.length < 6 && page && !(folder === 'clients' && page[1] === undefined)) {
        const [, other = folder, name = ''] = page;
        return `[${label}](/docs/${other}/${name === 'README' ? '' : `${name}/`}${anchor})`;
      }
      const address = ADDRESSES[path];
      if (address) return `[${label}](${address}${anchor})`;
      return path.includes('.') || up !== '' ? label : link;
    },
  );
}
