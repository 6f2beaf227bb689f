import { hash, randomBytes } from 'node:crypto';

const COUNT = 10;
const LENGTH = 16;
/** Crockford's base32: without the letters that are read as digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Ten codes of 80 random bits: `7k2m-9qxd-r4tv-h8wn`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => {
    const code = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
    return code.replaceAll(/(.{4})(?=.)/g, '$1-');
  });
}

/** The form in which a code is stored. There is nothing to guess in 80 bits, so a plain hash is enough. */
export const recoveryCodeHash = (code: string): Buffer => hash('sha256', normalise(code), 'buffer');

/** As it was printed, however it was typed. */
const normalise = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
