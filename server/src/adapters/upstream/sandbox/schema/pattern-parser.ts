/** A regular expression (ECMA-262, as JSON Schema has it) taken apart. */
export type PatternNode =
  | { readonly kind: 'character'; readonly accepts: (character: string) => boolean; readonly examples: readonly string[] }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly item: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'ahead'; readonly item: PatternNode; readonly negated: boolean }
  | { readonly kind: 'boundary'; readonly negated: boolean }
  | { readonly kind: 'start' | 'end' };

const LONGEST_PATTERN = 4_000;
const DEEPEST_GROUP = 40;
const EXAMPLES_PER_CLASS = 26;

/** Mixed, so that a run of them also satisfies "one capital, one digit, one sign"; letters first, for they read best. */
const LIKELY = Array.from('aA1bB2-cC3@dD4_eE5!fF6.gG7$hH8/iI9:jJ0 kK+lLmMnNoOpPqQrRsStTuUvVwWxXyYzZ');
const PRINTABLE = Array.from({ length: 0x180 - 0x20 }, (_, index) => String.fromCodePoint(0x20 + index));
const CANDIDATES = [...new Set([...LIKELY, ...PRINTABLE, '\t', '\n', '\r'])];

export const isWordCharacter = (character: string): boolean => /^\w$/.test(character);

/** Undefined for what is not covered: look-behind, back references, invalid syntax, and patterns of an unreasonable size. */
export function parsePattern(source: string): PatternNode | undefined {
  if (source.length > LONGEST_PATTERN) return undefined;
  const parser = new PatternParser(source);
  const node = parser.choice(0);
  return node && parser.atEnd ? node : undefined;
}

const literal = (character: string): PatternNode => ({ kind: 'character', accepts: (other) => other === character, examples: [character] });

/**
 * A class, an escape or the dot, with the engine's own meaning. Asking the engine about one character at a time is safe:
 * there is nothing to go back to.
 */
function characterClass(source: string): PatternNode | undefined {
  for (const flags of ['u', '']) {
    let expression: RegExp;
    try {
      expression = new RegExp(`^${source}$`, flags);
    } catch {
      continue;
    }
    const examples = CANDIDATES.filter((character) => expression.test(character)).slice(0, EXAMPLES_PER_CLASS);
    return { kind: 'character', accepts: (character) => character !== '' && expression.test(character), examples };
  }
  return undefined;
}

class PatternParser {
  readonly #characters: readonly string[];
  readonly #classes = new Map<string, PatternNode | undefined>();
  #at = 0;

  constructor(source: string) {
    this.#characters = Array.from(source);
  }

  get atEnd(): boolean {
    return this.#at >= this.#characters.length;
  }

  choice(depth: number): PatternNode | undefined {
    if (depth > DEEPEST_GROUP) return undefined;
    const items: PatternNode[] = [];
    do {
      const item = this.#sequence(depth);
      if (!item) return undefined;
      items.push(item);
    } while (this.#take('|'));
    const [only] = items;
    return items.length === 1 ? only : { kind: 'choice', items };
  }

  #sequence(depth: number): PatternNode | undefined {
    const items: PatternNode[] = [];
    while (!this.atEnd && !this.#sees('|') && !this.#sees(')')) {
      const atom = this.#atom(depth);
      const item = atom && this.#quantified(atom);
      if (!item) return undefined;
      items.push(item);
    }
    return { kind: 'sequence', items };
  }

  #atom(depth: number): PatternNode | undefined {
    if (this.#take('^')) return { kind: 'start' };
    if (this.#take('$')) return { kind: 'end' };
    if (this.#take('(')) return this.#group(depth);
    if (this.#sees('[')) return this.#class();
    if (this.#take('.')) return this.#classOf('.');
    if (this.#take('\\')) return this.#escape();
    if (['*', '+', '?'].some((sign) => this.#sees(sign))) return undefined;
    return literal(this.#next());
  }

  #group(depth: number): PatternNode | undefined {
    const ahead = this.#take('?=') ? { negated: false } : this.#take('?!') ? { negated: true } : undefined;
    if (!ahead && !this.#take('?:') && this.#sees('?') && !this.#takeName()) return undefined;
    const item = this.choice(depth + 1);
    if (!item || !this.#take(')')) return undefined;
    return ahead ? { kind: 'ahead', item, ...ahead } : item;
  }

  /** `?<name>`; the name says nothing here, since back references are not covered. */
  #takeName(): boolean {
    const name = /^\?<[A-Za-z_$][\w$]*>/.exec(this.#rest())?.[0];
    return name !== undefined && this.#take(name);
  }

  #class(): PatternNode | undefined {
    // The closing bracket cannot stand for itself except escaped, so the class ends at the first one that is not.
    const source = /^\[(?:\\[\s\S]|[^\]\\])*\]/.exec(this.#rest())?.[0];
    if (source === undefined) return undefined;
    this.#take(source);
    return this.#classOf(source);
  }

  /** Looking for examples costs some hundred tests, so each class of a pattern is looked at once. */
  #classOf(source: string): PatternNode | undefined {
    if (!this.#classes.has(source)) this.#classes.set(source, characterClass(source));
    return this.#classes.get(source);
  }

  #escape(): PatternNode | undefined {
    if (this.#take('b')) return { kind: 'boundary', negated: false };
    if (this.#take('B')) return { kind: 'boundary', negated: true };
    if (this.atEnd || /^(?:[1-9]|k<)/.test(this.#rest())) return undefined;
    const long = /^(?:[pP]\{[\w=]+\}|u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z])/.exec(this.#rest())?.[0];
    if (long !== undefined) this.#take(long);
    return this.#classOf(`\\${long ?? this.#next()}`);
  }

  #quantified(item: PatternNode): PatternNode | undefined {
    const source = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(this.#rest())?.[0];
    if (source === undefined) return item;
    this.#take(source);
    // Lazy or greedy is a question of which match is found first, not of whether there is one.
    this.#take('?');
    const [low = '0', high] = source === '*' ? ['0', ''] : source === '+' ? ['1', ''] : source === '?' ? ['0', '1'] : this.#counts(source);
    return { kind: 'repeat', item, min: Number(low), max: high === undefined ? Number(low) : high === '' ? Infinity : Number(high) };
  }

  #counts(source: string): string[] {
    return source.slice(1, -1).split(',');
  }

  /** What comes next, as far as any one token reaches. */
  #rest(): string {
    return this.#characters.slice(this.#at, this.#at + 300).join('');
  }

  #sees(text: string): boolean {
    return Array.from(text).every((character, index) => this.#characters[this.#at + index] === character);
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += Array.from(text).length;
    return true;
  }

  #next(): string {
    const character = this.#characters[this.#at] ?? '';
    this.#at += 1;
    return character;
  }
}
