/**
 * SHA-256 (FIPS 180-4), synchronous and without a platform API: browsers offer only an asynchronous one, and only on
 * secure origins, while a verifier has to work in a page opened from a disk.
 */

/** FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
// biome-ignore format: a table.
const K = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

/** FIPS 180-4, 5.3.3. */
// biome-ignore format: a table.
const INITIAL = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const;

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** The 32 bytes of the SHA-256 of `message`. */
export function sha256(message: Uint8Array): Uint8Array {
  const padded = pad(message);
  const state = Int32Array.from(INITIAL);
  const schedule = new Int32Array(64);
  for (let at = 0; at < padded.byteLength; at += BLOCK_BYTES) compress(state, schedule, new DataView(padded.buffer, at, BLOCK_BYTES));

  const digest = new Uint8Array(32);
  const words = new DataView(digest.buffer);
  state.forEach((word, index) => {
    words.setInt32(index * 4, word);
  });
  return digest;
}

/** 5.1.1: a one bit, zeros, and the length of the message in bits as a 64-bit integer, up to a whole number of blocks. */
function pad(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = Math.ceil((message.length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  const padded = new Uint8Array(length);
  padded.set(message);
  padded[message.length] = 0x80;
  const words = new DataView(padded.buffer);
  words.setUint32(length - 8, Math.floor(message.length / 2 ** 29));
  words.setUint32(length - 4, message.length << 3);
  return padded;
}

/** 6.2.2, for one block. The letters are those of the standard. */
function compress(state: Int32Array, w: Int32Array, block: DataView): void {
  for (let t = 0; t < 16; t++) w[t] = block.getInt32(t * 4);
  for (let t = 16; t < 64; t++) {
    const before15 = w[t - 15] ?? 0;
    const before2 = w[t - 2] ?? 0;
    const sigma0 = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3);
    const sigma1 = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10);
    w[t] = (w[t - 16] ?? 0) + sigma0 + (w[t - 7] ?? 0) + sigma1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const temporary1 = (h + sum1 + choice + (K[t] ?? 0) + (w[t] ?? 0)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + temporary1) | 0;
    d = c;
    c = b;
    b = a;
    a = (temporary1 + sum0 + majority) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word;
  });
}
