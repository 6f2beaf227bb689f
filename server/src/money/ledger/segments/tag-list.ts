import type { Names } from './packed-column.ts';
import { nameAt } from './segment.ts';

/** Of each set of tags of a segment those in it, as places in a list of tags: from its start on, up to that of the next set. */
export interface TagSets {
  readonly starts: Uint32Array;
  readonly tags: Uint32Array;
}

/** The tags of several segments as one list. */
export class TagList {
  /** Of each segment. An empty set has the empty tag. */
  readonly sets: readonly TagSets[];
  readonly #tags = new Map<string, number>();
  readonly #texts: string[] = [];

  constructor(sources: readonly Names[]) {
    this.sets = sources.map((names) => this.#setsOf(names));
  }

  get count(): number {
    return this.#texts.length;
  }

  text(at: number): string {
    return this.#texts[at] ?? '';
  }

  /** In the order of their bytes, the empty one last. */
  compare(a: number, b: number): number {
    if (this.text(a) === '' || this.text(b) === '') return Number(this.text(a) === '') - Number(this.text(b) === '');
    return Buffer.compare(Buffer.from(this.text(a)), Buffer.from(this.text(b)));
  }

  #setsOf(names: Names): TagSets {
    const starts = new Uint32Array(names.count + 1);
    const tags: number[] = [];
    for (let at = 0; at < names.count; at += 1) {
      const set = nameAt(names, at);
      for (const tag of set === '' ? [''] : (JSON.parse(set) as string[])) tags.push(this.#placeOf(tag));
      starts[at + 1] = tags.length;
    }
    return { starts, tags: Uint32Array.from(tags) };
  }

  #placeOf(tag: string): number {
    const place = this.#tags.get(tag) ?? this.#texts.push(tag) - 1;
    this.#tags.set(tag, place);
    return place;
  }
}
