import { toHex } from './encoding.ts';
import { Refused } from './refusal.ts';
import { type InnerList, parseDictionary, parseInnerList, serializeInnerList } from './structured-fields.ts';

/** What the caller of an API says they signed: one member of `Signature-Input` (RFC 9421, section 2.3). */
export interface SignatureInput {
  /** Names of the covered components in order: `@method`, `content-digest`, … */
  readonly components: readonly string[];
  /** Unix seconds. */
  readonly created: number | null;
  /** Unix seconds. */
  readonly expires: number | null;
  readonly nonce: string | null;
  readonly keyid: string | null;
  /** In the one spelling that is signed: the value of `@signature-params`. */
  readonly text: string;
}

const refuse = (reason: string): never => {
  throw new Refused('bad_client_signature', reason);
};

/**
 * Reads a member of `Signature-Input`. Component parameters (`;sf`, `;key`, `;bs`, `;req`, `;tr`) are not supported.
 * Throws `Refused` with `bad_client_signature`.
 */
export function readSignatureInput(member: InnerList | string): SignatureInput {
  const list = typeof member === 'string' ? parseInnerList(member) : member;
  if (!list) return refuse('The signature input is not a list of components with parameters (RFC 9421, section 2.3).');
  const components = list.items.map(({ item, parameters }) => {
    if (item.type !== 'string' || !/^@?[a-z0-9!#$%&'*+.^_`|~-]+$/.test(item.value))
      return refuse('Every covered component must be the name of a field or derived component, a string in lower case.');
    if (parameters.size > 0) return refuse(`The component "${item.value}" has parameters, which are not supported.`);
    return item.value;
  });
  if (new Set(components).size < components.length) refuse('A component is covered twice.');

  const text = (name: string): string | null => {
    const value = list.parameters.get(name);
    if (!value) return null;
    return value.type === 'string' ? value.value : refuse(`The parameter "${name}" is not a string.`);
  };
  const seconds = (name: string): number | null => {
    const value = list.parameters.get(name);
    if (!value) return null;
    return value.type === 'integer' ? value.value : refuse(`The parameter "${name}" is not an integer.`);
  };
  const alg = text('alg');
  if (alg !== null && alg !== 'ed25519') refuse('The parameter "alg" is not "ed25519".');
  return {
    components,
    created: seconds('created'),
    expires: seconds('expires'),
    nonce: text('nonce'),
    keyid: text('keyid'),
    text: serializeInnerList(list),
  };
}

/**
 * What is signed (RFC 9421, section 2.5), or the name of the first component whose value is not known.
 * `componentValue` gives a component's value; fields with surrounding white space taken off, repeated ones joined by `, `.
 */
export function signatureBase(
  { components, text }: SignatureInput,
  componentValue: (component: string) => string | undefined,
): { readonly base: string } | { readonly missing: string } {
  const lines: string[] = [];
  for (const component of components) {
    const value = componentValue(component);
    if (value === undefined) return { missing: component };
    // A line break in a value could pass for the next component.
    if (/[\r\n]/.test(value)) return refuse(`The value of "${component}" contains a line break.`);
    lines.push(`"${component}": ${value}`);
  }
  return { base: [...lines, `"@signature-params": ${text}`].join('\n') };
}

/**
 * The SHA-256 in a `Content-Digest` (RFC 9530), hex. Digests of other algorithms may stand beside it and are not looked at.
 * Throws `Refused` with `bad_client_signature`.
 */
export function sha256OfContentDigest(field: string): string {
  const digest = parseDictionary(field)?.get('sha-256');
  if (!digest || !('item' in digest) || digest.item.type !== 'bytes' || digest.item.value.length !== 32)
    return refuse('Content-Digest has no sha-256 of 32 bytes.');
  return toHex(digest.item.value);
}
