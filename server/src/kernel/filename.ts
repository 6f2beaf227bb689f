const MAX_LENGTH = 255;

/**
 * What is left of a client's name for a file once nothing in it can do harm: the last part of a path, one line, without invisible
 * characters, at most 255 characters with the extension kept. Null when that is nothing. It is for display and never used as a path.
 */
export function bareFilename(given: string): string | null {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  // Directional marks and other invisible characters (Cf) can make `exe.txt` of what ends otherwise.
  const bare = last
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
  if (bare === '' || bare === '.' || bare === '..') return null;
  const characters = [...bare];
  if (characters.length <= MAX_LENGTH) return bare;
  const extension = [...(/\.[^.]{1,20}$/.exec(bare)?.[0] ?? '')];
  return [...characters.slice(0, MAX_LENGTH - extension.length), ...extension].join('');
}
