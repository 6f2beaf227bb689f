import { JsonTexts } from './json-text.ts';
import { breather } from './turn.ts';

const QUOTE = 0x22;
const NUMBER_BYTES: ReadonlySet<number> = new Set(Buffer.from('0123456789+-.eE'));
const [ZERO, NINE, LETTER_E] = [0x30, 0x39, 0x65];
const LOWER_CASE = 0x20;
/** A double has every number of so few digits whose exponent is not extreme. */
const CERTAIN_DIGITS = 15;
const CERTAIN_EXPONENT_DIGITS = 2;
/** Longer than JavaScript writes any number: nobody has meant a double. */
const MOST_CHARACTERS = 32;
/** Between so many bytes other work has its turn. */
const PIECE_BYTES = 65_536;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * Whether every number of a JSON text is what `JSON.parse` makes of it. 9007199254740993 is not: it is read as 9007199254740992, so that two
 * texts that differ are equal once they are read. One of more than 32 characters counts as changed.
 */
export async function hasExactNumbers(bytes: Buffer): Promise<boolean> {
  const texts = new JsonTexts();
  const rest = breather();
  let restAt = PIECE_BYTES;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = texts.endOf(bytes, at + 1, bytes.length);
    else if (isDigit(byte)) {
      const from = at;
      while (at + 1 < bytes.length && NUMBER_BYTES.has(bytes[at + 1] ?? 0)) at += 1;
      if (!isExact(bytes, from, at + 1)) return false;
    }
    if (at < restAt) continue;
    await rest();
    restAt = at + PIECE_BYTES;
  }
  return true;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

function isExact(bytes: Buffer, from: number, to: number): boolean {
  if (to - from > MOST_CHARACTERS) return false;
  if (isCertain(bytes, from, to)) return true;
  const text = bytes.toString('latin1', from, to);
  return decimalOf(text) === decimalOf(String(Number(text)));
}

/** Most are, and to write a number takes long. */
function isCertain(bytes: Buffer, from: number, to: number): boolean {
  let [digits, exponentDigits, isExponent] = [0, 0, false];
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if ((byte | LOWER_CASE) === LETTER_E) isExponent = true;
    else if (!isDigit(byte)) continue;
    else if (isExponent) exponentDigits += 1;
    else if (byte !== ZERO || digits > 0) digits += 1;
  }
  return digits <= CERTAIN_DIGITS && exponentDigits <= CERTAIN_EXPONENT_DIGITS;
}

/** One text for each value, however it is written; undefined for what is no number. */
function decimalOf(text: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '0' : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
