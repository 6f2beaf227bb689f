import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common';
import { dictionary as english } from '@zxcvbn-ts/language-en';
import { isKnownNumber, isRunsOfKeys } from './learned-by-heart.ts';
import type { Weakness } from './password-strength.ts';

const words = (text: string): string[] => text.split(/\s+/);

/** Fewer guesses than these are few for somebody who has the hash, and not many for somebody who has a botnet. */
const FEWEST_GUESSES_LOG10 = 8;
/** The work grows faster than the length. What is strong up to here does not become weak by what follows. */
const LONGEST = 32;
const LONGEST_WORD = 64;
const SHORTEST = 10;
/** What is put around a word: a year, a few digits and signs. */
const MOST_AROUND_WORD = 6;
/** A character by itself: ten guesses, as zxcvbn has it; a word that is one of several: fifty. */
const CHARACTER_LOG10 = 1;
const WORD_LOG10 = 1.7;
/** Where the same comes again, only how often is to be guessed. */
const AGAIN_LOG10 = 0.5;
/** The separator of words: nearly always one of four. */
const BETWEEN_WORDS = /^[ ._-]$/;
const BETWEEN_WORDS_LOG10 = 0.5;
/** `Admin@Tallygate1`: letters from one capital to the next, digits, signs. */
const PIECES = /\p{Lu}+\p{Ll}*|\p{L}+?(?=\p{Lu}|\P{L}|$)|\p{N}+|[^\p{L}\p{N}]+/gu;

/** What guessers put together with a year: words of the trade, and the seasons, months and days of the languages of most visitors. */
const FIRST_GUESSES = words(`
  admin administrator root user guest test demo default login signin account master system service server gateway api localhost
  local office company corp team support hello welcome password passwort contrasena motdepasse secret changeme letmein example com org net
  gmail hotmail outlook yahoo icloud
  spring summer autumn fall winter fruehling frühling sommer herbst printemps été ete automne hiver primavera verano otoño otono invierno
  estate autunno inverno verao verão outono lente zomer herfst
  january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
  januar februar maerz märz mai juni juli oktober dezember janvier fevrier février mars avril juin juillet aout août septembre octobre
  novembre decembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
  monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi
  jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo`);

/** Passphrases that everybody has read. */
const KNOWN_PHRASES = [
  'correct horse battery staple',
  'the quick brown fox jumps over the lazy dog',
  'may the force be with you',
  'to be or not to be that is the question',
  'let me in',
  'i love you',
  'trust no one',
  'open sesame',
  'hello world',
  'live long and prosper',
  'winter is coming',
  'one ring to rule them all',
  'lorem ipsum dolor sit amet',
  'never gonna give you up',
  'i am your father',
  'the truth is out there',
  'in god we trust',
  'once upon a time',
  'roses are red violets are blue',
  'all your base are belong to us',
  'i think therefore i am',
  'it was a dark and stormy night',
  'houston we have a problem',
  'four score and seven years ago',
  'god save the queen',
  'i will be back',
  'jesus loves you',
  'jesus loves me',
  'jesus is lord',
  'god is good',
  'god is love',
  'god bless america',
  'ich liebe dich',
  'te quiero mucho',
].map((phrase) => phrase.split(' ').sort((one, other) => other.length - one.length));
/** As long as the shortest of them. */
const FEWEST_OF_PHRASE = 7;
/** Letters that a password may have beside those of a known phrase. */
const MOST_BESIDE_PHRASE = 3;

const SUBSTITUTES: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's', '!': 'i' };

/** The lists of many words. The others, of days, months, planets and the like, are one list with ours: every list is searched by itself. */
const LARGE_LISTS = ['commonWords-en', 'firstnames-en', 'lastnames-en', 'wikipedia-en'];
const isLarge = ([name]: [string, unknown]): boolean => LARGE_LISTS.includes(name);
const lists = Object.entries<readonly (string | number)[]>(english);
const firstGuesses = [...new Set([...FIRST_GUESSES, ...lists.filter((list) => !isLarge(list)).flatMap(([, words]) => words)])];

const judge = new ZxcvbnFactory({
  dictionary: { ...common, ...Object.fromEntries(lists.filter(isLarge)), firstGuesses },
  graphs: adjacencyGraphs,
  maxLength: LONGEST,
  // Of a hundred, the default, most are of signs that nobody takes for letters, and cost most of the time.
  l33tMaxSubstitutions: 20,
});

/** For what has no letters: nothing to look up, and no substitution to undo. */
const judgeOfSigns = new ZxcvbnFactory({ graphs: adjacencyGraphs, maxLength: LONGEST });

/** The words of an e-mail address or a name, whole and in parts. */
const wordsOf = (text: string): string[] => {
  const short = text.slice(0, LONGEST_WORD).toLowerCase();
  const parts = short.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 2);
  return [short, parts.join(''), ...parts];
};

/**
 * Why a password is easy to guess; null where it is not.
 * @param about what a guesser knows of the person and the service: name, e-mail address, host name
 */
export function weaknessOf(password: string, about: readonly string[]): Weakness | null {
  const text = password.normalize('NFKC').slice(0, LONGEST);
  const known = about.flatMap(wordsOf);
  const checked = judge.check(text, known);
  if (areFew(partsOf(checked)) || areFew(piecesOf(text, known))) return reasonOf(checked);
  const whole = password.normalize('NFKC').slice(0, LONGEST_WORD).toLowerCase();
  return isKnownPhrase(whole) || isWordAgain(whole) || isLovedWord(whole) || isRunsOfKeys(whole) || isKnownNumber(whole) ? 'known' : null;
}

/** A part of a password, and how many guesses it takes by itself. */
interface Part {
  readonly token: string;
  readonly guessesLog10: number;
}

/** zxcvbn's types leave the estimate out. */
const partsOf = ({ sequence }: Pick<ReturnType<typeof judge.check>, 'sequence'>): Part[] =>
  sequence.map((part) => ({ token: part.token, guessesLog10: 'guessesLog10' in part ? Number(part.guessesLog10) : part.token.length }));

/** zxcvbn takes several short parts for one that nobody knows, once there are many: each is looked at by itself as well. */
function* piecesOf(text: string, known: string[]): Generator<Part> {
  for (const piece of text.match(PIECES) ?? []) {
    if (piece.length === 1) yield { token: piece, guessesLog10: CHARACTER_LOG10 };
    else yield* partsOf(/\p{L}/u.test(piece) ? judge.check(piece, known) : judgeOfSigns.check(piece));
  }
}

/**
 * Whether the parts take few guesses one after the other, without what zxcvbn adds for finding out which and how many there are: who puts a
 * name, a sign and a year together knows that guessers do, too.
 */
function areFew(parts: Iterable<Part>): boolean {
  const seen = new Set<string>();
  let sum = 0;
  for (const { token, guessesLog10 } of parts) {
    const folded = token.toLowerCase();
    sum += seen.has(folded) ? AGAIN_LOG10 : guessesFor(token, guessesLog10);
    if (sum >= FEWEST_GUESSES_LOG10) return false;
    seen.add(folded);
  }
  return true;
}

function guessesFor(token: string, guessesLog10: number): number {
  if (BETWEEN_WORDS.test(token)) return BETWEEN_WORDS_LOG10;
  return Math.max(guessesLog10, token.length === 1 ? CHARACTER_LOG10 : WORD_LOG10);
}

function reasonOf({ sequence, feedback }: ReturnType<typeof judge.check>): Weakness {
  if (sequence.some((part) => 'dictionaryName' in part && part.dictionaryName === 'userInputs')) return 'about-you';
  switch (feedback.warning) {
    case 'topTen':
    case 'topHundred':
    case 'common':
    case 'similarToCommon':
      return 'known';
    default:
      return 'guessable';
  }
}

/** Words of one known phrase in any order, with hardly a letter more. */
function isKnownPhrase(text: string): boolean {
  const plain = text.replaceAll(/[^\p{L}]/gu, '');
  const substituted = text.replaceAll(/[^a-z]/g, (sign) => SUBSTITUTES[sign] ?? '');
  return [plain, substituted].some((letters) =>
    KNOWN_PHRASES.some((phrase) => {
      const rest = phrase.reduce((left, word) => left.replaceAll(word, ' '), letters).replaceAll(' ', '');
      return rest.length <= MOST_BESIDE_PHRASE && letters.length - rest.length >= FEWEST_OF_PHRASE;
    }),
  );
}

/** One word with a year or a few signs around it, once where it is a known word (`Summer2026!!`), several times for any word. */
function isWordAgain(text: string): boolean {
  const letters = text.replaceAll(/[^\p{L}]/gu, '');
  const word = /^(.{3,}?)\1*$/u.exec(letters)?.[1];
  if (word === undefined) return false;
  const times = letters.length / word.length;
  if (text.length - letters.length > MOST_AROUND_WORD * times) return false;
  if (times > 1 && word.length < SHORTEST) return true;
  const { sequence } = judge.check(word);
  return sequence.length === 1 && sequence[0]?.pattern === 'dictionary';
}

/** `I love my` and its like, in the languages of most visitors. */
const OPENING =
  /^(?:i(?:love|like|hate|miss|need|want|heart|am)|welove|ichliebe|jetaime|jaime|teamo|tiamo|euamo|mynameis|thisis)(?:my|your?|u|the|mein|meine|meinen|mon|ma|mi)?(?=\p{L}{2})/u;

/** A known word after what people say of what they love (`ilovemydog2026`). */
function isLovedWord(text: string): boolean {
  const letters = text.replaceAll(/[^\p{L}]/gu, '');
  const opening = OPENING.exec(letters)?.[0];
  return opening !== undefined && isWordAgain(`${letters.slice(opening.length)}${text.replaceAll(/[\p{L} ]/gu, '')}`);
}
