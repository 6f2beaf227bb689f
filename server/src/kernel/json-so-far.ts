/**
 * The value of a JSON text that may be incomplete: its last string, number or name is left out where it may not be
 * whole, and open brackets are closed. Undefined where the text is not JSON, or has no value yet. Reads the text once.
 */
export function jsonSoFar(text: string): unknown {
  const open: string[] = [];
  let isName = false;
  let whole = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') {
      const end = endOfText(text, at + 1);
      if (end < 0) break;
      at = end;
      if (!isName) whole = at + 1;
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
      isName = character === '{';
      whole = at + 1;
    } else if (character === '}' || character === ']') {
      open.pop();
      whole = at + 1;
    } else if (character === ',') {
      isName = open.at(-1) === '}';
      whole = at;
    } else if (character === ':') isName = false;
  }
  if (whole === 0) return undefined;
  try {
    return JSON.parse(text.slice(0, whole) + open.reverse().join(''));
  } catch {
    return undefined;
  }
}

/** The same of a usage: marked, since it says the least. */
export function usageSoFar(text: string): Readonly<Record<string, unknown>> | undefined {
  const said = jsonSoFar(text);
  return typeof said === 'object' && said !== null && !Array.isArray(said) ? { ...said, is_partial: true } : undefined;
}

/** The position of the quote that ends it; below zero where it has not come. */
function endOfText(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote;
  }
  return -1;
}
