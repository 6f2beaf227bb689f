import { JsonTexts } from './json-text.ts';

const QUOTE = 0x22;
const NUMBER_BYTES: ReadonlySet<number> = new Set(Buffer.from('0123456789+-.eE'));
/** A double has every number of so few digits. */
const CERTAIN_DIGITS = 15;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * Whether every number of a JSON text is what `JSON.parse` makes of it. 9007199254740993 is not: it is read as 9007199254740992, so that two
 * texts that differ are equal once they are read.
 */
export function hasExactNumbers(bytes: Buffer): boolean {
  const texts = new JsonTexts();
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = texts.endOf(bytes, at + 1, bytes.length);
    else if (isDigit(byte)) {
      const from = at;
      while (at + 1 < bytes.length && NUMBER_BYTES.has(bytes[at + 1] ?? 0)) at += 1;
      if (!isExact(bytes.toString('latin1', from, at + 1))) return false;
    }
  }
  return true;
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

const isExact = (text: string): boolean =>
  (text.length <= CERTAIN_DIGITS && !/e/i.test(text)) || decimalOf(text) === decimalOf(String(Number(text)));

/** One text for each value, however it is written; undefined for what is no number. */
function decimalOf(text: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '0' : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
