const SPACE = /[ \t\n\r]*/y;
const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What is allowed at a position of the text. */
type Place = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end';

/** The place after a token and the index where it starts, or the index of the fault. */
type Step = { readonly place: Place; readonly at: number } | { readonly fault: number };

/**
 * Where a text that is not JSON stops being JSON, counted in characters from 0; its length when it ends too early. The engine's
 * own message leaves the position out for short texts. Nesting is a list and not recursion: a quarter of a million
 * opening brackets is an ordinary attack.
 */
export function jsonFaultPosition(text: string): number {
  const closers: string[] = [];
  let place: Place = 'value';
  let at = skip(SPACE, text, 0);
  while (at < text.length) {
    const step = stepOver(text, at, place, closers);
    if ('fault' in step) return step.fault;
    place = step.place;
    at = skip(SPACE, text, step.at);
  }
  return at;
}

/** One token; opens and closes nesting on the way. */
function stepOver(text: string, at: number, place: Place, closers: string[]): Step {
  const character = text.charAt(at);
  const next = at + 1;
  if (character === closers.at(-1) && (place === ', or end' || place === 'value or ]' || place === 'name or }')) {
    closers.pop();
    return { place: ', or end', at: next };
  }
  switch (place) {
    case ':':
      return character === ':' ? { place: 'value', at: next } : { fault: at };
    case ', or end':
      if (character !== ',' || closers.length === 0) return { fault: at };
      return { place: closers.at(-1) === '}' ? 'name' : 'value', at: next };
    case 'name':
    case 'name or }':
      return character === '"' ? stepOverString(text, at, ':') : { fault: at };
    case 'value':
    case 'value or ]': {
      if (character === '"') return stepOverString(text, at, ', or end');
      if (character === '{' || character === '[') {
        closers.push(character === '{' ? '}' : ']');
        return { place: character === '{' ? 'name or }' : 'value or ]', at: next };
      }
      const end = skip(NUMBER_OR_WORD, text, at);
      return end === at ? { fault: at } : { place: ', or end', at: end };
    }
    default:
      return place satisfies never;
  }
}

function stepOverString(text: string, start: number, place: Place): Step {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return { place, at: at + 1 };
    if (code < FIRST_PRINTABLE) return { fault: at };
    const end = code === BACKSLASH ? skip(ESCAPE, text, at) : at + 1;
    if (end === at) return { fault: at };
    at = end;
  }
  return { fault: text.length };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;

/** The index after what `pattern` matches at `at`, or `at` when it does not match there. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
