import { fromVerifierKey } from './note.ts';

/** Who cosigns the states of a log, and how many of them have to. */
export interface WitnessPolicy {
  /** Verifier keys of cosignatures. */
  readonly keys: readonly string[];
  readonly quorum: number;
}

const POLICY = /^(all|any|[1-9]\d{0,2}) of (\S+(?: \S+)*)$/;

/** One line: `2 of <verifier key> <verifier key> <verifier key>`, `all of …` or `any of …`. Undefined for what is no policy. */
export function parseWitnessPolicy(text: string): WitnessPolicy | undefined {
  const [, wanted = '', named = ''] = POLICY.exec(text.trim().replaceAll(/\s+/g, ' ')) ?? [];
  const keys = named.split(' ');
  const parsed = keys.map((key) => fromVerifierKey(key));
  const quorum = wanted === 'all' ? keys.length : wanted === 'any' ? 1 : Number(wanted);
  // A witness that is named twice would count twice.
  const isOnce = new Set(parsed.map((key) => key && `${key.name} ${key.publicKey}`)).size === keys.length;
  if (wanted === '' || !isOnce || quorum > keys.length || !parsed.every((key) => key?.kind === 'cosignature')) return undefined;
  return { keys, quorum };
}

export const formatWitnessPolicy = ({ keys, quorum }: WitnessPolicy): string => `${quorum} of ${keys.join(' ')}`;

/** More than half: two such groups share a witness, so that no two pasts have both. */
export const majorityOf = (witnesses: number): number => Math.floor(witnesses / 2) + 1;
