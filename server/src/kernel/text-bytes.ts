import { joined } from './joined.ts';
import { breather } from './turn.ts';

const PIECE_CHARACTERS = 262_144;

/** Bytes of a text in UTF-8. Those of a long one are counted in pieces, and other work has its turn between them. */
export async function textBytes(text: string): Promise<number> {
  let bytes = 0;
  await eachTextPiece(text, (piece) => {
    bytes += Buffer.byteLength(piece);
  });
  return bytes;
}

/** A text in UTF-8. A long one is encoded in pieces, and other work has its turn between them. */
export async function encodedText(text: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  await eachTextPiece(text, (piece) => pieces.push(Buffer.from(piece)));
  return joined(pieces);
}

/** Hands out a long text piece by piece; other work has its turn between them. */
export async function eachTextPiece(text: string, take: (piece: string) => void): Promise<void> {
  const rest = breather();
  for (let from = 0; from < text.length; ) {
    const end = from + PIECE_CHARACTERS;
    const last = text.charCodeAt(end - 1);
    // The halves of a surrogate pair would be three bytes each.
    const to = last >= 0xd800 && last < 0xdc00 ? end + 1 : end;
    take(text.slice(from, to));
    from = to;
    await rest();
  }
}
