import type { FieldRules } from './field-rule.ts';

/** What a field means by its name, and the field of the operation to write in its place, where it has one. */
export interface Meaning {
  readonly what: string;
  readonly use?: string | undefined;
}

const MOST_CHARACTERS = 64;

const set = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const LEAST = set('min minimum least');
const LIMITS = set('max maximum limit cap ceiling budget quota total');
const NUMBERS = set('num number n count quantity amount');
const TOKENS = set('token tokens tok toks');
const LENGTHS = set('len length');
/** What is made, one of it. */
const MADE = set(
  'output out completion response generation generate generated gen decode decoded decoding reply answer new predict predicted prediction',
);
/** What is made, several of it. */
const ANSWERS = set(
  'predict beam beams sequence sequences candidate candidates completion completions generation generations response responses choice ' +
    'choices answer answers reply replies output outputs sample samples variant variants image images video videos repeat repeats ' +
    'repetition repetitions rollout rollouts copies best votes return returns replica replicas run runs iteration iterations iter iters try ' +
    'tries attempt attempts round rounds pass passes result results trial trials',
);
/** Of a group that is made at once. */
const GROUPS = set('batch beam sample');
/** What is bounded or counted then is not what comes out. */
const HARMLESS = set(
  'prompt input context thinking reasoning thought search cache cached tool page document doc chunk time timeout ms second seconds latency',
);
/** One word that is several of these without a separator: `maxgentoks`, `BATCHSIZE`. */
const RUN_TOGETHER = (() => {
  const known = [LEAST, LIMITS, NUMBERS, TOKENS, LENGTHS, MADE, ANSWERS, GROUPS, HARMLESS].flatMap((words) => [...words]).concat('size');
  const longestFirst = known.sort((one, other) => other.length - one.length).join('|');
  return { whole: new RegExp(`^(?:${longestFirst})+$`), word: new RegExp(longestFirst, 'g') };
})();

/**
 * What a field that is in no table means to a server of a dialect that nobody has looked at (`max_reply_tokens`, `completion_length`,
 * `numAnswers`, `repeat`), undefined where it neither bounds nor multiplies what is made. Only a number does, also one that is written as a
 * string; once is what is held.
 */
export function meaningOf(name: string, value: unknown, fields: FieldRules): Meaning | undefined {
  const amount = amountOf(value);
  if (amount === undefined || name.length > MOST_CHARACTERS) return undefined;
  const words = wordsOf(name);
  if (words.some((word) => HARMLESS.has(word))) return undefined;
  const bound = ['max_tokens', 'max_output_tokens'].find((field) => kept(fields, field) === 'counted');
  const isBound = boundsTokens(words) || (bound !== undefined && boundsLength(words));
  if (isBound && LEAST.has(words[0] ?? '')) return amount === 0 ? undefined : { what: 'a least number of tokens out' };
  if (isBound) return { what: 'another bound on tokens out', use: bound };
  if (!countsAnswers(words) && !(kept(fields, 'n') && countsInOtherWords(words))) return undefined;
  return amount === 0 || amount === 1
    ? undefined
    : { what: 'another number of answers', use: kept(fields, 'n') === 'counted' ? 'n' : undefined };
}

const wordsOf = (name: string): string[] =>
  name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).flatMap((part) => {
    const word = part.toLowerCase();
    return RUN_TOGETHER.whole.test(word) ? (word.match(RUN_TOGETHER.word) ?? []) : word === '' ? [] : [word];
  });

const kept = (fields: FieldRules, name: string) => (Object.hasOwn(fields, name) ? fields[name]?.kept : undefined);

function amountOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS || value.trim() === '') return undefined;
  // Pydantic takes `99_999` for a number.
  const amount = Number(value.replaceAll('_', ''));
  return Number.isNaN(amount) ? undefined : amount;
}

/** `max_gen_toks`, `limit_tokens`, `output_tokens`, `n_tokens`. */
function boundsTokens(words: readonly string[]): boolean {
  const [first = ''] = words;
  // `token` alone is a secret.
  if (words.length === 1) return first === 'tokens' || first === 'toks' || first === 'predict';
  if (!words.some((word) => TOKENS.has(word))) return false;
  if (NUMBERS.has(first) || LEAST.has(first) || words.at(-1) === 'count') return true;
  return words.some((word) => LIMITS.has(word) || MADE.has(word));
}

/** `max_len`, `completion_length`, `response_limit`. */
function boundsLength(words: readonly string[]): boolean {
  const [first = ''] = words;
  const last = words.at(-1) ?? '';
  const isMade = words.some((word) => MADE.has(word));
  if (LENGTHS.has(last)) return words.length === 1 || isMade || LIMITS.has(first) || LEAST.has(first);
  return isMade && (LIMITS.has(first) || LIMITS.has(last));
}

/** `num_answers`, `maxCandidates`. */
const countsAnswers = ([first = '', ...words]: readonly string[]): boolean =>
  (NUMBERS.has(first) || LIMITS.has(first) || LEAST.has(first)) && ANSWERS.has(words.at(-1) ?? '');

/** `count`, `samples`, `batch_size`, `choice_count`, `best_of_n`. */
function countsInOtherWords(words: readonly string[]): boolean {
  const [first = ''] = words;
  const last = words.at(-1) ?? '';
  if (words.length === 1)
    return NUMBERS.has(first) || first === 'batch' || first === 'repeat' || (ANSWERS.has(first) && first.endsWith('s'));
  // `best_of_n`, `stream_n`; `repeat_last_n` and `top_n` are windows.
  if (last === 'n') return !/^(?:last|top)$/.test(words.at(-2) ?? '');
  return (NUMBERS.has(last) && words.some((word) => ANSWERS.has(word))) || (last === 'size' && GROUPS.has(first));
}
