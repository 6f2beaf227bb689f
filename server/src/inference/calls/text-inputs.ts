/** Texts, or texts that the caller has made tokens of. */
export type TextInputs = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** How much there is: bytes of text (no tokenizer makes more tokens than there are bytes of UTF-8), tokens as they are, and how many inputs. */
export function textSize(inputs: TextInputs): { readonly bound: number; readonly estimate: number; readonly count: number } {
  const each = listOf(inputs).map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : one.length));
  const bound = each.reduce((sum, size) => sum + size, 0);
  const isText = typeof inputs === 'string' || typeof inputs[0] === 'string';
  return { bound, estimate: isText ? Math.ceil(bound / 4) : bound, count: each.length };
}

/** The texts among the inputs; undefined where the inputs are tokens, which need no counting. */
export function textsOf(inputs: TextInputs): string[] | undefined {
  const list = listOf(inputs);
  return list.every((one) => typeof one === 'string') ? [...list] : undefined;
}

function listOf(inputs: TextInputs): readonly (string | readonly number[])[] {
  if (typeof inputs === 'string') return [inputs];
  return isTokens(inputs) ? [inputs] : inputs;
}

const isTokens = (inputs: Exclude<TextInputs, string>): inputs is readonly number[] => typeof inputs[0] === 'number';
