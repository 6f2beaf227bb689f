import { isRecord, type Json, textIn } from '../json-value.ts';

/**
 * Where a caller finds the signature of a thought, and sends it back: `extra_content.google.thought_signature` on the tool call, or on the
 * message for a text. It is the place that Google's own OpenAI-compatible endpoint uses.
 */
export const withSignature = (signature: string | undefined): Json =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

export function signatureIn(holder: Json): string | undefined {
  const extra = holder['extra_content'];
  const google = isRecord(extra) ? extra['google'] : undefined;
  return isRecord(google) ? textIn(google['thought_signature']) : undefined;
}

/** Google's word for a call that this model did not make, or whose signature was lost on the way. */
const UNSIGNED = 'skip_thought_signature_validator';

interface SignedPart {
  readonly functionCall?: unknown;
  readonly thoughtSignature?: string | null | undefined;
}
interface SignedContent {
  readonly parts?: readonly SignedPart[] | null | undefined;
}

/**
 * Gemini 3 refuses a turn whose first call has no signature. Clients that know OpenAI's fields alone drop it, and another model may have made
 * the call: then the model goes on without its thoughts rather than not at all. Earlier models demand none.
 */
export function signed<T extends SignedContent>(contents: readonly T[], model: string): readonly T[] {
  if (!demandsSignatures(model)) return contents;
  return contents.map((content) => {
    const given = content.parts ?? [];
    const first = given.findIndex(({ functionCall }) => functionCall);
    if (first < 0 || typeof given[first]?.thoughtSignature === 'string') return content;
    const parts = given.map((part, at) => (at === first ? { ...part, thoughtSignature: UNSIGNED } : part));
    return { ...content, parts };
  });
}

const demandsSignatures = (model: string): boolean => !/gemini-(1|2)[.-]/i.test(model);
