/** A value of DER (X.690) with the bytes that it is made of. */
export interface DerValue {
  readonly tag: number;
  /** With tag and length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** Tags that are read here. */
export const TAG = { integer: 0x02, octets: 0x04, oid: 0x06, generalizedTime: 0x18, sequence: 0x30, context0: 0xa0 } as const;

/** @throws RangeError for bytes that are no DER, indefinite lengths among them */
export function readDer(bytes: Buffer): DerValue {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined || first === 0x80 || first > 0x84) throw new RangeError('The bytes are no DER');
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  if (bytes.length < 2 + lengthBytes) throw new RangeError('The DER is cut');
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (bytes.length < start + length) throw new RangeError('The DER is cut');
  return { tag, whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) };
}

/** The values one after the other within a constructed one. @throws RangeError */
function childrenOf({ content }: DerValue): DerValue[] {
  const children: DerValue[] = [];
  for (let at = 0; at < content.length; ) {
    const child = readDer(content.subarray(at));
    children.push(child);
    at += child.whole.length;
  }
  return children;
}

/** The child at a place, which has to be of that tag. @throws RangeError */
export function childAt(parent: DerValue, place: number, tag: number): DerValue {
  const child = childrenOf(parent)[place];
  if (child?.tag === tag) return child;
  throw new RangeError(`The DER has ${child ? `the tag ${child.tag}` : 'nothing'} where ${tag} belongs`);
}

/** @param parts the values within it, each whole */
export function writeDer(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length >= 0x80) throw new RangeError('Longer values are not written here');
  return Buffer.concat([Buffer.of(tag, content.length), content]);
}
