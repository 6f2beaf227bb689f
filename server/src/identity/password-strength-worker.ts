import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import type { Weakness } from './password-strength.ts';

/** Fewer guesses than 10⁸ are few for somebody who has the hash, and not many for somebody who has a botnet. */
const LOWEST_SCORE = 3;
/** The work grows faster than the length. What is strong up to here does not become weak by what follows. */
const LONGEST = 32;
const LONGEST_WORD = 64;

/** What is put around a word: a year, a few digits and signs. */
const MOST_AROUND_WORD = 6;
/** Passphrases that everybody has read, without spaces. */
const KNOWN_PASSPHRASES: ReadonlySet<string> = new Set([
  'correcthorsebatterystaple',
  'thequickbrownfoxjumpsoverthelazydog',
  'maytheforcebewithyou',
]);

const judge = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: LONGEST });

/** The words of an e-mail address or a name, whole and in parts. */
const wordsOf = (text: string): string[] => {
  const short = text.slice(0, LONGEST_WORD).toLowerCase();
  const parts = short.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 2);
  return [short, parts.join(''), ...parts];
};

/** One known word with a year or a few signs around it, once or several times (`Summer2026Summer`): the first that a guesser makes of a list. */
function isWordWithYear(password: string): boolean {
  const letters = password.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
  if (KNOWN_PASSPHRASES.has(letters)) return true;
  const repeated = /^(.{3,}?)\1*$/u.exec(letters)?.[1] ?? '';
  const repeats = repeated === '' ? 1 : letters.length / repeated.length;
  if (repeated === '' || password.length - letters.length > MOST_AROUND_WORD * repeats) return false;
  const { sequence } = judge.check(repeated);
  return sequence.length === 1 && sequence[0]?.pattern === 'dictionary';
}

function weaknessOf(password: string, about: readonly string[]): Weakness | null {
  const { score, feedback } = judge.check(password.normalize('NFKC').slice(0, LONGEST), [...about.flatMap(wordsOf), 'tallygate']);
  if (score >= LOWEST_SCORE) return isWordWithYear(password.normalize('NFKC').slice(0, LONGEST_WORD)) ? 'known' : null;
  switch (feedback.warning) {
    case 'userInputs':
      return 'about-you';
    case 'topTen':
    case 'topHundred':
    case 'common':
    case 'similarToCommon':
      return 'known';
    default:
      return 'guessable';
  }
}

parentPort?.on('message', ({ id, password, about }: { id: number; password: string; about: readonly string[] }) => {
  parentPort?.postMessage({ id, weakness: weaknessOf(password, about) });
});
