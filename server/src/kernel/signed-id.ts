import { createHmac, timingSafeEqual } from 'node:crypto';

const ID_BYTES = 16;

interface Seal {
  readonly secret: string;
  /** A token for one purpose is worth nothing for another. */
  readonly purpose: string;
  readonly proofBytes: number;
}

/** A UUID that goes out and comes back from outside, with a proof that it was ours: 16 bytes, then the proof. */
export function signedId(id: string, seal: Seal): Buffer {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes, proofOf(bytes, seal)]);
}

/** @returns undefined for what was not signed so */
export function idSigned(token: Buffer, seal: Seal): string | undefined {
  if (token.length !== ID_BYTES + seal.proofBytes) return undefined;
  const id = token.subarray(0, ID_BYTES);
  if (!timingSafeEqual(token.subarray(ID_BYTES), proofOf(id, seal))) return undefined;
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const proofOf = (id: Buffer, { secret, purpose, proofBytes }: Seal): Buffer =>
  createHmac('sha256', secret).update(purpose).update(id).digest().subarray(0, proofBytes);
