import { hash, randomInt } from 'node:crypto';

/** Consonants only: no word comes out by accident, and none is mistaken for another or for a digit (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** `WDJB-MJHT`: 34.5 random bits, enough for ten minutes and a few guesses. */
export function newUserCode(): string {
  const code = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** Of what a person types: case, dashes and blanks do not count. */
export const userCodeHash = (typed: string): Buffer => hash('sha256', typed.toUpperCase().replaceAll(/[^A-Z]/g, ''), 'buffer');
