import { breather } from './turn.ts';

const PIECE_CHARACTERS = 262_144;

/** Bytes of a text in UTF-8. Those of a long one are counted in pieces, and other work has its turn between them. */
export async function textBytes(text: string): Promise<number> {
  const rest = breather();
  let bytes = 0;
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_CHARACTERS;
    const last = text.charCodeAt(end - 1);
    // The halves of a surrogate pair would count three bytes each.
    const to = last >= 0xd800 && last < 0xdc00 ? end + 1 : end;
    bytes += Buffer.byteLength(text.slice(from, to));
    from = to;
    await rest();
  }
  return bytes;
}
