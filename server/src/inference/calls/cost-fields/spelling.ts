import { invalidInput } from '../../../kernel/invalid-input.ts';
import { isRecord } from '../usage.ts';

/** Longer than any known name. */
const MOST_CHARACTERS = 64;

/** The names that a decoder may take for known ones: Go's and .NET's ignore case, Protobuf's also underscores, some fold Unicode. */
export class KnownNames {
  readonly #names: ReadonlySet<string>;
  readonly #byFolded: ReadonlyMap<string, string>;

  /** @param otherNames what other dialects call some of them, and the known name of each */
  constructor(names: Iterable<string>, otherNames: Iterable<readonly [string, string]> = []) {
    this.#names = new Set(names);
    this.#byFolded = new Map(
      [...otherNames, ...[...this.#names].map((name) => [name, name] as const)].map(([name, known]) => [folded(name), known]),
    );
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The known name that this one could be read as, or that means the same; undefined where it is known itself, or like none. */
  meantBy(name: string): string | undefined {
    return this.#names.has(name) || name.length > MOST_CHARACTERS ? undefined : this.#byFolded.get(folded(name));
  }
}

/** Upper case first: `ı` is `I` there, and nothing else makes it an `i`. */
const folded = (name: string): string =>
  /^[a-z0-9]*$/.test(name)
    ? name
    : name
        .normalize('NFKD')
        .toUpperCase()
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, '');

/** An object of a request: its members by name, and those of them whose own members matter too. */
export interface Shape {
  readonly names: KnownNames;
  readonly within: ReadonlyMap<string, Shape>;
}

export const shape = (
  names: Iterable<string>,
  within: Readonly<Record<string, Shape>> = {},
  otherNames: Iterable<readonly [string, string]> = [],
): Shape => ({
  names: new KnownNames([...names, ...Object.keys(within)], otherNames),
  within: new Map(Object.entries(within)),
});

/**
 * @throws Problem `validation_failed` for a name that differs from a known one in case or separators alone, or means the same, with the known
 * one; for any other name that is not ASCII
 */
export function requireSpelling(value: unknown, { names, within }: Shape, loc: readonly (string | number)[] = []): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) requireSpelling(one, { names, within }, [...loc, index]);
    return;
  }
  if (!isRecord(value)) return;
  for (const name in value) {
    if (names.has(name)) {
      const inner = within.get(name);
      if (inner) requireSpelling(value[name], inner, [...loc, name]);
      continue;
    }
    const meant = names.meantBy(name);
    if (meant === undefined) requireAscii(name, loc);
    else throw invalidInput([{ loc: ['body', ...loc, name], msg: `must be written \`${meant}\``, type: 'misspelt' }]);
  }
}

/**
 * `mаx_tokens` with a Cyrillic `а` is no field of any provider, and looks like one that was held.
 * @throws Problem `validation_failed`
 */
export function requireAscii(name: string, loc: readonly (string | number)[]): void {
  if (/^[ -~]*$/.test(name)) return;
  const seen = name.slice(0, MOST_CHARACTERS);
  const msg = `has ${JSON.stringify(/[^ -~]/.exec(name)?.[0])} in its name: names of fields are of ASCII characters`;
  throw invalidInput([{ loc: ['body', ...loc, seen], msg, type: 'misspelt' }]);
}
