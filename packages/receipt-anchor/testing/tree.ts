import { createHash } from 'node:crypto';
import {
  consistencyRanges,
  type Hash,
  inclusionRanges,
  type LeafRange,
  leafHash,
  nodeHash,
  rangeHash,
  type TreeNode,
} from '@tallygate/receipts';

const sha256: Hash = (message) => createHash('sha256').update(message).digest();
const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** A log in memory with invented entries, and its data for a chain: hashes as 0x and 64 hex digits. */
export class Tree {
  readonly #nodes = new Map<string, Uint8Array>();
  readonly #entry: (index: number) => string;

  constructor(entry: (index: number) => string = (index) => `entry ${index}`) {
    this.#entry = entry;
  }

  root(size: number): string {
    return hex(this.#range({ start: 0, end: size }));
  }

  leaf(index: number): string {
    return hex(this.#node({ level: 0, index }));
  }

  inclusion(index: number, size: number): string[] {
    return inclusionRanges(index, size).map((range) => hex(this.#range(range)));
  }

  consistency(oldSize: number, newSize: number): string[] {
    return consistencyRanges(oldSize, newSize).map((range) => hex(this.#range(range)));
  }

  #range(range: LeafRange): Uint8Array {
    return rangeHash(range, (node) => this.#node(node), sha256);
  }

  #node({ level, index }: TreeNode): Uint8Array {
    const name = `${level}/${index}`;
    const known = this.#nodes.get(name);
    if (known) return known;
    const made =
      level === 0
        ? leafHash(Buffer.from(this.#entry(index)), sha256)
        : nodeHash(this.#node({ level: level - 1, index: 2 * index }), this.#node({ level: level - 1, index: 2 * index + 1 }), sha256);
    this.#nodes.set(name, made);
    return made;
  }
}
