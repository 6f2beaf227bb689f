import { readdirSync, readFileSync } from 'node:fs';

/** A published test vector: a receipt, or the text of one, and what to verify it with. */
export interface Vector {
  readonly receipt?: unknown;
  readonly text?: string;
  /** Instead of the common key set. */
  readonly keys?: unknown;
  readonly prices?: unknown;
  /** Verifier keys of witnesses that are asked for. */
  readonly witnesses?: readonly string[];
  readonly expected_code?: string;
}

const folder = new URL('../../packages/receipts/vectors/', import.meta.url);

/** The text of the common key set. */
export const keySet = readFileSync(new URL('keys.json', folder), 'utf8');

/** Names such as `good/plain`, sorted. */
export const vectorNames = (verdict: 'good' | 'broken'): string[] =>
  readdirSync(new URL(`${verdict}/`, folder))
    .sort()
    .map((file) => `${verdict}/${file.replace(/\.json$/, '')}`);

export const readVector = (name: string): Vector => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));

export const receiptTextOf = ({ receipt, text = JSON.stringify(receipt) }: Vector): string => text;
