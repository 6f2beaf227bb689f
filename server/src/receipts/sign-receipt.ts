import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { detachedJws, type JwsType, jwsSigningInput } from '@tallygate/receipts';
import type { SigningKey } from './signing-keys.ts';

const signed = promisify(sign);

/** The signature of a receipt or an invoice by itself, made off the thread that answers requests. @param payload canonical */
export async function signDocument(type: JwsType, payload: string, { kid, privateKey }: SigningKey): Promise<string> {
  const signature = await signed(null, jwsSigningInput(kid, Buffer.from(payload), type), privateKey);
  return detachedJws(kid, signature.toString('base64url'), type);
}

export const signReceipt = (payload: string, key: SigningKey): Promise<string> => signDocument('tallygate-receipt', payload, key);
