import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { detachedJws, jwsSigningInput } from '@tallygate/receipts';
import type { SigningKey } from './signing-keys.ts';

const signed = promisify(sign);

/** The receipt's own signature, made off the thread that answers requests. @param payload canonical */
export async function signReceipt(payload: string, { kid, privateKey }: SigningKey): Promise<string> {
  const signature = await signed(null, jwsSigningInput(kid, Buffer.from(payload)), privateKey);
  return detachedJws(kid, signature.toString('base64url'));
}
