/** Letters or digits that a password may have beside what many know. */
const MOST_BESIDE = 4;
const SHORTEST = 7;

/** Digits that many know by heart: pi, e, the golden ratio, the roots of two and three, and twice pi. */
const KNOWN_DIGITS = [
  '31415926535897932384626433832795028841971693993751',
  '27182818284590452353602874713526624977572470936999',
  '16180339887498948482045868343656381177203091798057',
  '14142135623730950488016887242096980785696718753769',
  '17320508075688772935274463415058723669428052538103',
  '62831853071795864769252867665590057683943387987502',
];

/** Lines of an American keyboard: its columns, with the digit above, and its rows. */
const LINES = ['1qaz', '2wsx', '3edc', '4rfv', '5tgb', '6yhn', '7ujm', '8ik', '9ol', '1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const SHORTEST_RUN = 3;
/** The keys of the signs above the digits. */
const KEYS: Readonly<Record<string, string>> = {
  ...{ '!': '1', '@': '2', '#': '3', $: '4', '%': '5', '^': '6', '&': '7', '*': '8', '(': '9', ')': '0' },
};
const RUN_OF_KEYS = new RegExp(
  [...LINES, ...LINES.map((line) => [...line].reverse().join(''))]
    .flatMap((line) => partsOf(line))
    .sort((one, other) => other.length - one.length)
    .join('|'),
  'g',
);

/** The parts of a line that are long enough for a run. */
function partsOf(line: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from + SHORTEST_RUN <= line.length; from += 1)
    for (let to = from + SHORTEST_RUN; to <= line.length; to += 1) parts.push(line.slice(from, to));
  return parts;
}

/** Whether nearly all keys lie in columns and rows of a keyboard, with or without Shift: `zaq1@WSX3edc`. */
export function isRunsOfKeys(text: string): boolean {
  const keys = [...text.toLowerCase()].map((sign) => KEYS[sign] ?? sign).join('');
  const rest = keys.replaceAll(RUN_OF_KEYS, '');
  return rest.length <= MOST_BESIDE && keys.length - rest.length >= SHORTEST;
}

/** Whether it is hardly more than the digits of a known number: `3.14159265358979`, `Pi=3.14159265`. */
export function isKnownNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  if (digits.length < SHORTEST || text.replaceAll(/[^\p{L}]/gu, '').length > MOST_BESIDE) return false;
  return KNOWN_DIGITS.some((known) => {
    const shared = longestShared(digits, known);
    return shared >= SHORTEST && digits.length - shared <= MOST_BESIDE;
  });
}

/** The length of the longest part of one text that is in the other. */
function longestShared(text: string, other: string): number {
  let longest = 0;
  for (let from = 0; from < text.length; from += 1)
    while (from + longest < text.length && other.includes(text.slice(from, from + longest + 1))) longest += 1;
  return longest;
}
