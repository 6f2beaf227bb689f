import { invalid, missing, unknownParameter } from './fault.ts';

type Tree = { [name: string]: Tree | string };

/**
 * The parameters of a request, as Stripe encodes them: `items[0][price]=…&metadata[a]=b`. It records which were read: a parameter that nobody
 * reads is a parameter that the endpoint does not have, and Stripe refuses it.
 */
export class Form {
  readonly #tree: Tree;
  readonly #path: string;
  readonly #read = new Set<string>();
  readonly #inner: Form[] = [];

  constructor(tree: Tree, path = '') {
    this.#tree = tree;
    this.#path = path;
  }

  static parse(encoded: string): Form {
    const tree: Tree = Object.create(null);
    for (const [name, value] of new URLSearchParams(encoded)) {
      const steps = name.replaceAll(']', '').split('[');
      const last = steps.pop() ?? '';
      const inner = steps.reduce(descend, tree);
      // `expand[]` counts up.
      inner[last === '' ? String(Object.keys(inner).length) : last] = value;
    }
    return new Form(tree);
  }

  has(name: string): boolean {
    return this.#tree[name] !== undefined;
  }

  text(name: string): string | undefined {
    this.#read.add(name);
    const value = this.#tree[name];
    if (typeof value === 'object') throw invalid(`Invalid string: ${this.name(name)}`, { param: this.name(name) });
    return value;
  }

  /** An empty text clears a field. */
  clearable(name: string): string | null | undefined {
    const value = this.text(name);
    return value === '' ? null : value;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined || value === '') throw missing(this.name(name));
    return value;
  }

  integer(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined || value === '') return undefined;
    if (!/^-?\d+$/.test(value)) throw invalid(`Invalid integer: ${value}`, { param: this.name(name), code: 'parameter_invalid_integer' });
    return Number(value);
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name);
    if (value === undefined || value === '') return undefined;
    if (value !== 'true' && value !== 'false') throw invalid(`Invalid boolean: ${value}`, { param: this.name(name) });
    return value === 'true';
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = allowed.find((one) => one === value);
    if (!found) throw invalid(`Invalid ${this.name(name)}: must be one of ${allowed.join(', ')}`, { param: this.name(name) });
    return found;
  }

  part(name: string): Form | undefined {
    this.#read.add(name);
    const value = this.#tree[name];
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') throw invalid(`Invalid object`, { param: this.name(name) });
    const inner = new Form(value, this.name(name));
    this.#inner.push(inner);
    return inner;
  }

  parts(name: string): Form[] {
    const outer = this.part(name);
    return outer ? Object.keys(outer.#tree).flatMap((key) => outer.part(key) ?? []) : [];
  }

  texts(name: string): string[] {
    const outer = this.part(name);
    return outer ? Object.keys(outer.#tree).map((key) => outer.required(key)) : [];
  }

  /** What is to be set; an empty text takes a key away, and `metadata=` all of them. */
  metadata(before: Record<string, string> = {}, name = 'metadata'): Record<string, string> {
    if (this.#tree[name] === '') {
      this.#read.add(name);
      return {};
    }
    const given = this.part(name);
    const after = { ...before };
    for (const key of given ? Object.keys(given.#tree) : []) {
      const value = given?.text(key);
      if (value) after[key] = value;
      else delete after[key];
    }
    return after;
  }

  /** Throws on a parameter that was not read. */
  expectAllRead(): void {
    const unread = Object.keys(this.#tree).find((name) => !this.#read.has(name));
    if (unread !== undefined) throw unknownParameter(this.name(unread));
    for (const inner of this.#inner) inner.expectAllRead();
  }

  name(name: string): string {
    return this.#path ? `${this.#path}[${name}]` : name;
  }
}

function descend(tree: Tree, step: string): Tree {
  const there = tree[step];
  if (typeof there === 'object') return there;
  const made: Tree = Object.create(null);
  tree[step] = made;
  return made;
}
