import { fromBase64, toBase64 } from '../encoding.ts';
import { HASH_BYTES, isSize } from './tree.ts';

/** The state of a log at one size, as a signed note states it (c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  /** Which log; unique in the world. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

const SIZE = /^(?:0|[1-9]\d{0,15})$/;

/** The text of the note. */
export const checkpointText = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${toBase64(root)}\n`;

/** Undefined for text that is no checkpoint. What stands after its three lines are extensions, which say nothing here. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin, size = '', encoded = '', ...extensions] = text.split('\n');
  const root = fromBase64(encoded);
  if (!origin || !SIZE.test(size) || root?.length !== HASH_BYTES || extensions.pop() !== '' || extensions.includes('')) return undefined;
  const number = Number(size);
  return isSize(number) ? { origin, size: number, root } : undefined;
}
