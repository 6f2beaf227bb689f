import * as z from 'zod';
import { page, Timestamp } from './conventions.ts';

const Sha256Hex = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256, lower-case hex.', examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] });
const Kid = z.string().meta({ description: 'RFC 7638 thumbprint of the key.', examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'] });
const Purpose = z.enum(['receipt', 'checkpoint', 'promise']).meta({
  description: 'What the key signs: receipts, states of the log, promises of receipts. No key does two of these.',
  examples: ['receipt'],
});
const UnitPrices = z.record(z.string(), z.string().regex(/^\d+$/)).meta({
  description: 'Price per single unit in 10⁻¹² USD, by meter.',
  examples: [{ input_tokens: '150000', output_tokens: '600000' }],
});

const declared = {
  version: z.literal('tallygate-declaration/v1'),
  number: z
    .int()
    .min(1)
    .meta({ description: 'Its number among the declarations of its kind, from 1.', examples: [3] }),
  previous: Sha256Hex.nullable().meta({ description: 'Digest of the declaration of its kind before it; null of the first.' }),
  declared_at: Timestamp.meta({ description: 'When it was declared (UTC).' }),
};

export const PriceEntry = z
  .object({
    index: z
      .int()
      .min(0)
      .meta({ description: 'Position of the entry, from 0.', examples: [12] }),
    digest: Sha256Hex.meta({ description: 'SHA-256 of "tallygate-declaration/v1\\n" and the canonical declaration: the entry itself.' }),
  })
  .meta({ id: 'PriceEntry', description: 'Which entry of the log declares a price.' });
export type PriceEntry = z.infer<typeof PriceEntry>;

export const PriceDeclaration = z
  .object({
    ...declared,
    kind: z.literal('price'),
    model: z.string().meta({ examples: ['gpt-4o-mini'] }),
    price_version: z.string().meta({ examples: ['2026-07-24'] }),
    effective_from: Timestamp.meta({ description: 'From which on it is charged (UTC).' }),
    unit_prices_pico_usd: UnitPrices,
    tiers: z
      .array(
        z.object({
          above_input_tokens: z
            .int()
            .min(0)
            .meta({ examples: [200000] }),
          unit_prices_pico_usd: UnitPrices,
        }),
      )
      .meta({ description: 'Empty where long inputs cost no more.', examples: [[]] }),
    batch_factor: z.string().meta({ description: 'Factor on all prices in batches.', examples: ['0.5'] }),
  })
  .meta({ id: 'PriceDeclaration', description: 'What a model costs in one version. It is in the log before it is charged.' });
export type PriceDeclaration = z.infer<typeof PriceDeclaration>;

export const KeyDeclaration = z
  .object({
    ...declared,
    kind: z.literal('key'),
    purpose: Purpose,
    kid: Kid,
    x: z.string().meta({ description: 'Public key, 32 bytes, base64url.', examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'] }),
    not_before: Timestamp,
    signed_by: z
      .object({ kid: Kid, jws: z.string().meta({ examples: ['eyJhbGciOiJFZERTQSIsImtpZCI6…..hgyY0il_…'] }) })
      .nullable()
      .meta({
        description:
          'Signature of the key before it, a detached JWS over the canonical declaration with null in this place. Null of the first key, and where the one before was lost.',
      }),
  })
  .meta({ id: 'KeyDeclaration', description: 'A key that signs from now on. It is in the log before it signs.' });
export type KeyDeclaration = z.infer<typeof KeyDeclaration>;

export const KeyRetiredDeclaration = z
  .object({ ...declared, kind: z.literal('key_retired'), purpose: Purpose, kid: Kid, not_after: Timestamp })
  .meta({ id: 'KeyRetiredDeclaration', description: 'A key that signs no more.' });
export type KeyRetiredDeclaration = z.infer<typeof KeyRetiredDeclaration>;

export const LogPolicyDeclaration = z
  .object({
    ...declared,
    kind: z.literal('policy'),
    log: z.string().meta({ description: 'Name of the log.', examples: ['gateway.example/v1/log'] }),
    receipt_version: z.string().meta({ examples: ['tallygate-receipt/v1'] }),
    logged_within_s: z
      .int()
      .min(0)
      .meta({ description: 'How soon a receipt is in the log, seconds after its answer has ended.', examples: [300] }),
    witness_policy: z
      .string()
      .nullable()
      .meta({
        description:
          'Whose cosignatures a verifier demands, and how many, in one line: `2 of KEY KEY KEY`. Null where there are no witnesses. The agent document lists the same.',
        examples: ['1 of witness.example+9b3a5c1d+BNLy…'],
      }),
    anchors: z
      .array(
        z.object({
          chain_id: z
            .int()
            .min(0)
            .meta({ examples: [8453] }),
          contract: z.string().meta({ examples: [`0x${'5a'.repeat(20)}`] }),
        }),
      )
      .meta({ description: 'Contracts that hold states of the log.', examples: [[]] }),
  })
  .meta({ id: 'LogPolicyDeclaration', description: 'By which rules the log is kept from now on.' });
export type LogPolicyDeclaration = z.infer<typeof LogPolicyDeclaration>;

export const LogDeclaration = z
  .discriminatedUnion('kind', [PriceDeclaration, KeyDeclaration, KeyRetiredDeclaration, LogPolicyDeclaration])
  .meta({ id: 'LogDeclaration', description: 'An entry of the log that is no receipt: what is said before it is used.' });
export type LogDeclaration = z.infer<typeof LogDeclaration>;

export const LogHash = z.string().meta({ description: 'SHA-256, base64.', examples: ['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='] });

const Hashes = z.array(LogHash).meta({ description: 'Hashes from the leaf upwards (RFC 9162, section 2.1.3).' });

export const LoggedPrice = z.object({ declaration: PriceDeclaration, inclusion_path: Hashes }).meta({
  id: 'LoggedPrice',
  description: 'A price with the proof that it is in the state of the log that the receipt is proven against.',
});
export type LoggedPrice = z.infer<typeof LoggedPrice>;

export const LoggedDeclaration = z
  .object({
    index: z
      .int()
      .min(0)
      .meta({ description: 'Position of the entry, from 0.', examples: [12] }),
    digest: Sha256Hex.meta({ description: 'The entry itself.' }),
    declaration: LogDeclaration,
    inclusion_path: Hashes,
  })
  .meta({ id: 'LoggedDeclaration', description: 'A declaration, and the proof that it is in the log.' });

export const LogDeclarations = page(LoggedDeclaration)
  .extend({
    checkpoint: z.string().meta({
      description: 'The state of the log that the proofs are against: a signed note.',
      examples: ['gateway.example/v1/log\n42\n…'],
    }),
    tree_size: z
      .int()
      .min(1)
      .meta({ description: 'Entries of the log in that state.', examples: [42] }),
    declared: z.object({ price: z.int().min(0), key: z.int().min(0), key_retired: z.int().min(0), policy: z.int().min(0) }).meta({
      description: 'How many declarations of each kind the log has in that state.',
      examples: [{ price: 12, key: 3, key_retired: 0, policy: 1 }],
    }),
  })
  .meta({ id: 'LogDeclarations', description: 'Prices, keys and rules that are entries of the log.' });
export type LogDeclarations = z.infer<typeof LogDeclarations>;

export const LogConsistencyResponse = z
  .object({
    object: z.literal('log.consistency'),
    from: z.int().meta({ description: 'The smaller size.', examples: [4] }),
    to: z.int().meta({ description: 'The larger size.', examples: [7] }),
    path: z.array(LogHash).meta({ description: 'The consistency path of RFC 9162, section 2.1.4.' }),
  })
  .meta({ id: 'LogConsistencyResponse', description: 'That the log of one size is the beginning of the log of another.' });
export type LogConsistencyResponse = z.infer<typeof LogConsistencyResponse>;
