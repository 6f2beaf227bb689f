import { RecentMap } from '../../kernel/recent-map.ts';
import { type CatalogModel, SOURCES } from './model.ts';

/** What a name means. */
export interface Resolved {
  readonly model: CatalogModel;
  /** The provider's own name that was asked for, where it is not the model's: it is what the provider is sent. */
  readonly variant: string | null;
  /** The one provider that the name asks for. */
  readonly provider: string | null;
}

type Resolve = (name: string) => Resolved | undefined;

export interface Names {
  readonly resolve: Resolve;
  /** Without the meaning of prefixes: what the name alone means. */
  readonly known: Resolve;
}

/** Names that are no id, alias or variant as they are: they are looked up once. */
const MAX_REMEMBERED = 1_000;

/**
 * A name is, in this order: an id; an alias or variant; a variant with a `*`, the longest first; `<provider>/<name>`, where the provider's own
 * model of that name is that model and any other one is wanted at that provider alone. Of two models that claim one name, the one whose
 * source is the higher has it, then the one that comes first.
 */
export function namesOf(models: readonly CatalogModel[]): Names {
  const names = new Map<string, Resolved>();
  for (const model of models) names.set(model.id, { model, variant: null, provider: null });
  const globs: { glob: string; model: CatalogModel }[] = [];
  for (const model of models.toSorted((a, b) => SOURCES.indexOf(a.source) - SOURCES.indexOf(b.source))) {
    for (const name of model.aliases) if (!names.has(name)) names.set(name, { model, variant: null, provider: null });
    for (const name of model.variants)
      if (name.includes('*')) globs.push({ glob: name, model });
      else if (!names.has(name)) names.set(name, { model, variant: name, provider: null });
  }
  globs.sort((a, b) => b.glob.length - a.glob.length);

  const bare: Resolve = (name) => {
    const found = names.get(name);
    if (found) return found;
    const glob = globs.find((one) => matchesGlob(one.glob, name));
    return glob && { model: glob.model, variant: name, provider: null };
  };
  const prefixed: Resolve = (name) => {
    const slash = name.indexOf('/');
    if (slash <= 0) return undefined;
    const provider = name.slice(0, slash);
    const found = bare(name.slice(slash + 1));
    return found && (found.model.provider === provider ? found : { ...found, provider });
  };
  const remembered = new RecentMap<string, Resolved | 'unknown'>(MAX_REMEMBERED);
  const resolve: Resolve = (name) => {
    const exact = names.get(name);
    if (exact) return exact;
    const before = remembered.get(name);
    if (before) return before === 'unknown' ? undefined : before;
    const found = bare(name) ?? prefixed(name);
    if (name.length <= 200) remembered.set(name, found ?? 'unknown');
    return found;
  };
  return { resolve, known: bare };
}

/** Whether a name begins with that of another configured provider, and so means a model at that one. */
export function beginsWithAnother(providers: ReadonlySet<string>, provider: string, name: string): boolean {
  const first = name.slice(0, Math.max(0, name.indexOf('/')));
  return first !== provider && providers.has(first);
}

/** `*` matches any characters. The time grows with the product of the lengths, for every glob. */
export function matchesGlob(glob: string, name: string): boolean {
  const [first = '', ...others] = glob.split('*');
  const last = others.pop();
  if (last === undefined) return glob === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

const MOST_EDITS = 3;
const MOST_NEAREST = 3;

/**
 * The ids that were probably meant, the nearest first. A model that a host sells under the host's name is meant only where that host is configured or
 * named.
 */
export function nearestNames(name: string, models: readonly CatalogModel[], providers: ReadonlySet<string>): string[] {
  const asked = name.slice(0, 100).toLowerCase();
  const near = models.flatMap(({ id, provider }) => {
    const isPrefixed = id.startsWith(`${provider}/`);
    if (isPrefixed && !providers.has(provider) && !asked.startsWith(`${provider}/`)) return [];
    const distance = distanceTo(id.toLowerCase(), asked);
    // Of the same name at several providers, the maker's.
    return distance === undefined ? [] : [{ id, distance: distance + (isPrefixed ? A_HOST : 0) }];
  });
  near.sort((a, b) => a.distance - b.distance);
  const isSame = (near[0]?.distance ?? Infinity) <= A_HOST;
  const ids = near.filter(({ distance }) => !isSame || distance <= A_HOST).map(({ id }) => id);
  const first = new Map(ids.toReversed().map((id) => [bareName(id), id]));
  return ids.filter((id) => first.get(bareName(id)) === id).slice(0, MOST_NEAREST);
}

/** The name without what is in front of its last slash, as it is compared. */
export const bareName = (name: string): string => name.slice(name.lastIndexOf('/') + 1).toLowerCase();

/** Less than one edit. */
const A_HOST = 0.5;
/** A dated name, or the beginning of a name: as far as this many edits, and the farther the more the lengths differ. */
const A_PART = 2;

/** Undefined: too far to have been meant. */
function distanceTo(candidate: string, asked: string): number | undefined {
  const bare = bareName(asked);
  const bareCandidate = bareName(candidate);
  const most = Math.min(MOST_EDITS, Math.floor(bare.length / 3));
  const bareEdits = editsBetween(bare, bareCandidate, most);
  const isWhole = asked === bare && candidate === bareCandidate;
  const edits = isWhole ? bareEdits : Math.min(bareEdits, editsBetween(asked, candidate, most));
  const isPart = bare.startsWith(`${candidate}-`) || (bare.length > 4 && candidate.startsWith(`${bare}-`));
  const ofPart = isPart ? A_PART + Math.abs(bare.length - candidate.length) / 1_000 : Infinity;
  const least = Math.min(edits > most ? Infinity : edits, ofPart);
  return least === Infinity ? undefined : least;
}

/** Levenshtein's distance, or one more than is of interest: only that far from the diagonal are there cells worth looking at. */
function editsBetween(a: string, b: string, most: number): number {
  const tooMany = most + 1;
  if (Math.abs(a.length - b.length) > most) return tooMany;
  let row = Array.from({ length: b.length + 1 }, (_, index) => Math.min(index, tooMany));
  for (let i = 1; i <= a.length; i += 1) {
    const next = new Array<number>(b.length + 1).fill(tooMany);
    if (i <= most) next[0] = i;
    let least = next[0] ?? tooMany;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j += 1) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
      const edits = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      next[j] = edits;
      if (edits < least) least = edits;
    }
    if (least > most) return tooMany;
    row = next;
  }
  return row[b.length] ?? 0;
}
