import nacl from 'tweetnacl';

/** The field prime 2^255 − 19. */
const P = 2n ** 255n - 19n;
/** The order of the base point (RFC 8032, 5.1). */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const SIGN_BIT = 2n ** 255n;

/** The y of one point of order 8; its negative is the y of the others. */
const Y_OF_ORDER_8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;

/** The y of the eight points whose order divides 8: order 4, 1, 2, 8 and 8 (two points of opposite x may share a y). */
const SMALL_ORDER_Y: readonly bigint[] = [0n, 1n, P - 1n, Y_OF_ORDER_8, P - Y_OF_ORDER_8];

/**
 * Whether a public key (32 bytes) must not be trusted although it decodes: a point of small order verifies the same
 * signature for nearly any message, and a y that is not reduced is a second name for another key (RFC 8032, 5.1.3).
 */
export function isWeakPublicKey(publicKey: Uint8Array): boolean {
  const y = fromLittleEndian(publicKey) % SIGN_BIT;
  return y >= P || SMALL_ORDER_Y.includes(y);
}

/** −121665/121666, the constant of the curve −x² + y² = 1 + dx²y² (RFC 8032, 5.1). */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether 32 bytes are a public key that can be registered: a point of the curve (RFC 8032, 5.1.3) and not a weak one.
 * Bytes that are no point would verify nothing, which is better said when a key is registered than at every request.
 */
export function isPublicKey(publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32 || isWeakPublicKey(publicKey)) return false;
  const y = fromLittleEndian(publicKey) % SIGN_BIT;
  const square = (y * y) % P;
  // x² = u/v has a root exactly where uv has one, by Euler's criterion.
  return power(((square - 1n + P) * (D * square + 1n)) % P, (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/**
 * Whether the S of a signature (64 bytes) is not reduced. S + L satisfies the same equation as S, so that anybody could
 * turn one valid signature into another; RFC 8032, 5.1.7, refuses it, and tweetnacl does not look.
 */
export const isMalleated = (signature: Uint8Array): boolean => fromLittleEndian(signature.subarray(32)) >= L;

/** Ed25519 (RFC 8032), strict: false for weak keys and malleated signatures too. */
export const verifyEd25519 = (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean =>
  !isWeakPublicKey(publicKey) && !isMalleated(signature) && nacl.sign.detached.verify(message, signature, publicKey);

const fromLittleEndian = (bytes: Uint8Array): bigint => bytes.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);
