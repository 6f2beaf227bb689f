import type { Import, SourceFile } from './source-file.ts';

/** The rooms of server/src that hold slices of one subject. */
const ROOMS = {
  access: ['directory', 'identity', 'keys', 'projects'],
  money: ['budgets', 'catalog', 'ledger', 'limits', 'live', 'plans', 'runs'],
  inference: ['batches', 'calls', 'files', 'stored-content', 'videos'],
  community: ['client-requests', 'content', 'emails', 'events', 'invites', 'marketing', 'people'],
};

/** The folders of server/src that are slices of the product, by their path in it; app, kernel and adapters are the only others. */
export const SLICES: readonly string[] = [
  ...Object.entries(ROOMS).flatMap(([room, slices]) => slices.map((slice) => `${room}/${slice}`)),
  'archive',
  'audit',
  'discovery',
  'http',
  'mail',
  'receipts',
  'webhooks',
];

/** Where in the server a path lies. */
export type Place =
  | { readonly layer: 'app' | 'kernel'; readonly name: '' }
  | { readonly layer: 'slice' | 'adapter' | 'unknown'; readonly name: string };

const SERVER = 'server/src/';

/** Undefined outside the server. `main.ts` is the way into app. */
export function placeOf(path: string): Place | undefined {
  if (!path.startsWith(SERVER)) return undefined;
  const [folder = '', inner = ''] = path.slice(SERVER.length).split('/');
  if (folder === 'app' || folder === 'kernel') return { layer: folder, name: '' };
  if (folder === 'main.ts') return { layer: 'app', name: '' };
  if (folder === 'adapters') return { layer: 'adapter', name: inner };
  const slice = [`${folder}/${inner}`, folder].find((name) => SLICES.includes(name));
  return slice ? { layer: 'slice', name: slice } : { layer: 'unknown', name: folder };
}

/** An import from one place of the server to another. */
export interface Arrow {
  readonly from: Place;
  readonly to: Place;
  readonly file: SourceFile;
  readonly import: Import;
}

/** Every import of production code that leaves its own layer, slice or adapter for another one. */
export function arrowsOf(files: readonly SourceFile[]): Arrow[] {
  return files.flatMap((file) => {
    const from = placeOf(file.path);
    if (!from || file.isTest) return [];
    return file.imports.flatMap((one) => {
      const to = placeOf(one.target);
      return to && !(to.layer === from.layer && to.name === from.name) ? [{ from, to, file, import: one }] : [];
    });
  });
}

/** The rooms that each room uses, `app` among them; without kernel and adapters, which all may use. */
export function roomArrows(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const arrows = new Map<string, Set<string>>();
  for (const { from, to } of arrowsOf(files)) {
    const [user, used] = [roomOf(from), roomOf(to)];
    if (user && used && user !== used) arrows.set(user, (arrows.get(user) ?? new Set()).add(used));
  }
  return new Map([...arrows].map(([room, used]) => [room, [...used].sort()]));
}

const roomOf = ({ layer, name }: Place): string | undefined =>
  layer === 'app' ? 'app' : layer === 'slice' ? name.split('/')[0] : undefined;

/** What ARCHITECTURE.md draws: `a --> b & c`. */
export const drawnArrows = (architecture: string): ReadonlyMap<string, readonly string[]> =>
  new Map([...architecture.matchAll(/^ {2}([a-z]+) --> ([a-z& ]+)$/gm)].map(([, room = '', used = '']) => [room, used.split(' & ')]));

export const isIndexOf = (slice: string, target: string): boolean => target === `${SERVER}${slice}/index.ts`;

export const isPortOf = (adapter: string, target: string): boolean => target === `${SERVER}adapters/${adapter}/port.ts`;

/**
 * The cycles among the slices, each once and from its alphabetically first member on: `audit → mail → audit`. Imports of types count:
 * two slices that name each other's types cannot be understood, or moved, one at a time.
 */
export function sliceCycles(arrows: readonly Arrow[]): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of arrows)
    if (from.layer === 'slice' && to.layer === 'slice') next.set(from.name, (next.get(from.name) ?? new Set()).add(to.name));

  const cycles: string[] = [];
  const walk = (path: string[]): void => {
    const [first = ''] = path;
    for (const slice of next.get(path.at(-1) ?? '') ?? []) {
      if (slice === first) cycles.push([...path, slice].join(' → '));
      else if (slice > first && !path.includes(slice)) walk([...path, slice]);
    }
  };
  for (const slice of [...next.keys()].sort()) walk([slice]);
  return cycles;
}
