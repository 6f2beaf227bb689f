/** Where a character is changed, from the end. The last one of base64 has bits that mean nothing, this one has none. */
const CHANGED = -5;

/** The same token, key or link with one wrong character, whatever it had there. */
export const mistyped = (text: string): string =>
  `${text.slice(0, CHANGED)}${text.at(CHANGED) === 'a' ? 'b' : 'a'}${text.slice(CHANGED + 1)}`;
