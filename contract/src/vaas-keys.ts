import * as z from 'zod';
import { Timestamp } from './conventions.ts';

const publishedKey = {
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().meta({ description: 'Public key, base64url (RFC 8037).', examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'] }),
  kid: z.string().meta({ description: 'RFC 7638 thumbprint.', examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'] }),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
};
const validity = {
  not_before: Timestamp.meta({ description: 'From when on it signs. What it signs may be older: a receipt is signed when it is read.' }),
  not_after: Timestamp.nullable().meta({ description: 'Set once the key is retired.', examples: [null] }),
};

export const VaasKey = z
  .object({ ...publishedKey, purpose: z.literal('receipt'), ...validity })
  .meta({ id: 'VaasKey', description: 'A public key that signs receipts, with its time of validity.' });
export type VaasKey = z.infer<typeof VaasKey>;

export const VaasLogKey = z
  .object({
    ...publishedKey,
    purpose: z.literal('checkpoint'),
    verifier_key: z.string().meta({
      description: 'Name of the log, id and bytes of the key, as signed notes know them (c2sp.org/signed-note).',
      examples: ['tallygate/receipts/5f2c9a0d4b7e1836a5c0d9e2f4718b63+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'],
    }),
    ...validity,
  })
  .meta({ id: 'VaasLogKey', description: 'A public key that signs the states of the receipts’ log, with its time of validity.' });
export type VaasLogKey = z.infer<typeof VaasLogKey>;

export const VaasPromiseKey = z.object({ ...publishedKey, purpose: z.literal('promise'), ...validity }).meta({
  id: 'VaasPromiseKey',
  description: 'A public key that signs promises of receipts (`X-Receipt-Promise`), with its time of validity.',
});
export type VaasPromiseKey = z.infer<typeof VaasPromiseKey>;

export const VaasKeySet = z.object({ keys: z.array(z.discriminatedUnion('purpose', [VaasKey, VaasLogKey, VaasPromiseKey])) }).meta({
  id: 'VaasKeySet',
  description: 'JSON Web Key Set (RFC 7517) of the keys of receipts, of their log and of promises, retired ones included.',
});
export type VaasKeySet = z.infer<typeof VaasKeySet>;
