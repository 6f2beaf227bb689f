import { asciiAddress } from '@tallygate/contract';

/** Letters that no normal form takes apart, as Latin alphabets without them write them. */
const WRITTEN_AS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ß: 'ss', þ: 'th', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ŋ: 'n', ı: 'i', ĸ: 'q', ƒ: 'f' },
  ...{
    ɓ: 'b',
    ƀ: 'b',
    ɗ: 'd',
    ɖ: 'd',
    ɛ: 'e',
    ǝ: 'e',
    ə: 'e',
    ɣ: 'g',
    ǥ: 'g',
    ɨ: 'i',
    ƙ: 'k',
    ɲ: 'n',
    ɔ: 'o',
    ɵ: 'o',
    ʉ: 'u',
    ƴ: 'y',
    ƶ: 'z',
  },
};
const THOSE = new RegExp(`[${Object.keys(WRITTEN_AS).join('')}]`, 'g');

/**
 * Text as it is searched: without case, accents, compatibility forms, and letters of some Latin alphabets alone. The database's own `lower`
 * knows ASCII alone in some locales. Its results are stored: a change of it needs a migration that folds all stored texts again.
 */
export const foldForSearch = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(THOSE, (letter) => WRITTEN_AS[letter] ?? letter)
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Words in their search form. Addresses are searched in the spelling in which they are stored. */
export const foldWords = (q: string): string => foldForSearch(q.replaceAll(/\S+@\S+/g, asciiAddress));

/** The normalized spelling of an address. The local part is case-sensitive by the standard; no mailbox in use distinguishes case. */
export const normalAddress = (email: string): string => email.trim().toLowerCase();
