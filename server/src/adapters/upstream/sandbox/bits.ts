/** Bits as a text of zeros and ones, the first one in front: for heads of files, and for frames that are made once. */
export type Bits = string;

/** The highest bit first, as JPEG, MP3 and video have it. */
export const highestFirst = (value: number, bits: number): Bits => value.toString(2).padStart(bits, '0');

/** The lowest bit first, as WebP has it. */
export const lowestFirst = (value: number, bits: number): Bits => [...highestFirst(value, bits)].reverse().join('');

/** The first of eight bits is the highest of its byte. Zeros fill the last byte. */
export const packedHighestFirst = (bits: Bits): Buffer =>
  Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));

/** The first of eight bits is the lowest of its byte. Zeros fill the last byte. */
export const packedLowestFirst = (bits: Bits): Buffer =>
  Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt([...byte].reverse().join(''), 2)));
