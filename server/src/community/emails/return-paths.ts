import type { Pool } from 'pg';
import { idSigned, signedId } from '../../kernel/signed-id.ts';
import { createEmailSecret } from './email-secret.ts';

/** Addresses have up to 64 characters before the `@`: 48 of them are the id and its signature. */
const PROOF_BYTES = 8;

/** `bounces@mail.example` → `bounces+<token>@mail.example`: where a mail server writes that it could not deliver a mail (VERP). */
export interface ReturnPaths {
  of(recipientId: string): Promise<string>;
  /** @returns the id of the recipient that an address in this text was made for, in upper or lower case */
  recipientIn(text: string): Promise<string | undefined>;
}

export function createReturnPaths({ pool, address }: { readonly pool: Pool; readonly address: string }): ReturnPaths {
  const [local = '', domain = ''] = address.split('@');
  const pattern = new RegExp(`${escaped(local)}\\+([0-9a-f]{48})@${escaped(domain)}`, 'gi');
  const secret = createEmailSecret(pool);
  const sealed = async () => ({ secret: await secret(), purpose: 'bounce', proofBytes: PROOF_BYTES });
  return {
    of: async (recipientId) => `${local}+${signedId(recipientId, await sealed()).toString('hex')}@${domain}`,
    async recipientIn(text) {
      for (const [, token = ''] of text.matchAll(pattern)) {
        const recipientId = idSigned(Buffer.from(token, 'hex'), await sealed());
        if (recipientId !== undefined) return recipientId;
      }
      return undefined;
    },
  };
}

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&');
