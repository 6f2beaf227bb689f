import { canonicalJson, isPlainObject } from '../canonical.ts';
import { toHex, utf8 } from '../encoding.ts';
import type { Declaration, LogPolicyDeclaration, PriceDeclaration } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import { sha256 } from '../sha256.ts';
import { count, LONGEST_LIST, listOf, matching, nullable, oneOf, ordinal, type Shape, strictObject, string, timestamp } from '../shape.ts';
import { factor, publicBytesText, unitPrices } from '../structure.ts';

const VERSION = 'tallygate-declaration/v1';
/** Bytes made for a declaration never pass for those of a receipt. */
const DOMAIN = `${VERSION}\n`;

/** The text whose UTF-8 bytes are hashed: `"tallygate-declaration/v1\n"` and the canonical JSON of the declaration. */
export const declarationInput = (declaration: Declaration): string => `${DOMAIN}${canonicalJson(declaration)}`;

/** The 32 bytes that are the entry of a declaration in the log. */
export const declarationDigest = (declaration: Declaration): Uint8Array => sha256(utf8(declarationInput(declaration)));

const placed = { version: oneOf(VERSION), number: ordinal, previous: nullable(matching(/^[0-9a-f]{64}$/, 'a digest in hex')) };
const purpose = oneOf('receipt', 'checkpoint', 'promise');

const price = strictObject<PriceDeclaration>({
  ...placed,
  kind: oneOf('price'),
  declared_at: timestamp,
  model: string,
  price_version: string,
  effective_from: timestamp,
  unit_prices_pico_usd: unitPrices,
  tiers: listOf(strictObject({ above_input_tokens: count, unit_prices_pico_usd: unitPrices }), LONGEST_LIST),
  batch_factor: factor,
});

const SHAPES: { readonly [Kind in Declaration['kind']]: Shape<Extract<Declaration, { kind: Kind }>> } = {
  price,
  key: strictObject({
    ...placed,
    kind: oneOf('key'),
    declared_at: timestamp,
    purpose,
    kid: string,
    x: publicBytesText,
    not_before: timestamp,
    signed_by: nullable(strictObject({ kid: string, jws: string })),
  }),
  key_retired: strictObject({ ...placed, kind: oneOf('key_retired'), declared_at: timestamp, purpose, kid: string, not_after: timestamp }),
  policy: strictObject<LogPolicyDeclaration>({
    ...placed,
    kind: oneOf('policy'),
    declared_at: timestamp,
    log: string,
    receipt_version: string,
    logged_within_s: count,
    witness_policy: nullable(string),
    anchors: listOf(strictObject({ chain_id: count, contract: matching(/^0x[0-9a-f]{40}$/, 'an address in lower case') }), LONGEST_LIST),
  }),
};

/** Reads a declaration into a copy. Throws `Refused` with `malformed_declaration`. */
export function readDeclaration(value: unknown, path = 'declaration'): Declaration {
  const at = { path, code: 'malformed_declaration' } as const;
  const kind = isPlainObject(value) ? value['kind'] : undefined;
  if (typeof kind !== 'string' || !Object.hasOwn(SHAPES, kind))
    throw new Refused(at.code, `${path}.kind is none of ${Object.keys(SHAPES).join(', ')}.`);
  return SHAPES[kind as Declaration['kind']](value, at);
}

/** As {@link readDeclaration}, of a price. */
export const readPriceDeclaration = (value: unknown, path: string): PriceDeclaration =>
  price(value, { path, code: 'malformed_declaration' });

export const digestHex = (declaration: Declaration): string => toHex(declarationDigest(declaration));
