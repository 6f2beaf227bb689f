const PLACES_PER_FEATURE = 12;
/** A text is judged by its beginning: so much of it bounds the time that one vector takes. */
const CHARACTERS_READ = 32_768;
const PRECISION = 1e7;

/**
 * A unit vector of a text. Words and their pieces of three letters each point in a direction of their own, so texts that share many of
 * them lie near each other, and texts that share none are about orthogonal. A shorter vector is the beginning of the longer one, made
 * a unit vector again, as with the models that let the length be chosen.
 * @param features texts, or names of tokens
 */
export function vectorOf(features: ReadonlyMap<string, number>, dimensions: number, length: number): number[] {
  const whole = new Float64Array(dimensions);
  for (const [feature, count] of features) {
    const weight = Math.sqrt(count) * (feature.startsWith(' ') ? 2 : 1);
    const random = randomFrom(feature);
    for (let place = 0; place < PLACES_PER_FEATURE; place += 1) {
      const bits = random();
      const at = (bits >>> 1) % dimensions;
      whole[at] = (whole[at] ?? 0) + (bits & 1 ? weight : -weight);
    }
  }
  return unit(whole.subarray(0, length));
}

function unit(values: Float64Array): number[] {
  const norm = Math.hypot(...blocksOf(values));
  // A text of which nothing reaches these places still needs a direction.
  if (norm === 0) return Array.from(values, (_, index) => (index === 0 ? 1 : 0));
  return Array.from(values, (value) => Math.round((value / norm) * PRECISION) / PRECISION);
}

/** Norms of parts: `Math.hypot` takes its arguments from the stack, which has no room for thousands. */
const blocksOf = (values: Float64Array): number[] =>
  Array.from({ length: Math.ceil(values.length / 512) }, (_, block) => Math.hypot(...values.subarray(block * 512, (block + 1) * 512)));

/** How often each word (with a blank before it) and each piece of three letters stands in the text, whatever its case. */
export function featuresOf(text: string): Map<string, number> {
  const features = new Map<string, number>();
  const add = (feature: string) => features.set(feature, (features.get(feature) ?? 0) + 1);
  for (const [word] of text
    .slice(0, CHARACTERS_READ)
    .toLowerCase()
    .normalize('NFKC')
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    add(` ${word}`);
    const framed = `^${word}$`;
    for (let at = 0; at + 3 <= framed.length; at += 1) add(framed.slice(at, at + 3));
  }
  if (features.size === 0) add(text.slice(0, 100));
  return features;
}

/** Tokens stand for words: nobody here knows which. */
export function tokenFeatures(tokens: readonly number[]): Map<string, number> {
  const features = new Map<string, number>();
  for (const token of tokens) features.set(` #${token}`, (features.get(` #${token}`) ?? 0) + 1);
  return features;
}

/** Evenly spread 32-bit numbers that follow from a text (FNV-1a, then xorshift). */
function randomFrom(text: string): () => number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  state = mixed(state) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return mixed(state);
  };
}

function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
