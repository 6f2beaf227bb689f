import type { Names } from './packed-column.ts';
import { nameAt } from './segment.ts';

/** The tags of several segments as one list. */
export class TagList {
  readonly #tags = new Map<string, number>();
  readonly #texts: string[] = [];

  get count(): number {
    return this.#texts.length;
  }

  /** @returns of each set of tags those in it, and of an empty one the empty tag */
  add(names: Names): number[][] {
    return Array.from({ length: names.count }, (_, at) => {
      const set = nameAt(names, at);
      const tags: string[] = set === '' ? [''] : JSON.parse(set);
      return tags.map((tag) => this.#placeOf(tag));
    });
  }

  text(at: number): string {
    return this.#texts[at] ?? '';
  }

  /** In the order of their bytes, the empty one last. */
  compare(a: number, b: number): number {
    if (this.text(a) === '' || this.text(b) === '') return Number(this.text(a) === '') - Number(this.text(b) === '');
    return Buffer.compare(Buffer.from(this.text(a)), Buffer.from(this.text(b)));
  }

  #placeOf(tag: string): number {
    const place = this.#tags.get(tag) ?? this.#texts.push(tag) - 1;
    this.#tags.set(tag, place);
    return place;
  }
}
