import { isWordCharacter, type PatternNode, parsePattern } from './pattern-parser.ts';
import { SchemaRefusal, type WorkBudget } from './refusal.ts';

/**
 * The `pattern` of a schema. It is never run as a `RegExp`: it comes from a caller, and a backtracking engine would let
 * `(a+)+$` stop the process. Matching keeps the set of reachable positions instead, and every step of it is counted.
 */
export interface Pattern {
  /** As JSON Schema has it: anywhere in the text, unless the pattern is anchored. */
  matches(text: string, work: WorkBudget): boolean;
  /**
   * Text that the pattern describes (look-aheads and word boundaries are not looked at: check with `matches`).
   * @param extra how often each open repeat goes beyond its minimum
   * @param pick which alternative and which character, counted from 0, where there is a choice
   */
  sample(extra: number, pick: number, work: WorkBudget): string;
}

/** Throws {@link SchemaRefusal} for syntax that is not covered: look-behind, back references, and what is no pattern at all. */
export function compilePattern(source: string): Pattern {
  const node = parsePattern(source);
  if (!node) throw new SchemaRefusal(`the pattern ${JSON.stringify(source.slice(0, 100))} uses syntax that the sandbox does not sample`);
  return {
    matches(text, work) {
      const characters = Array.from(text);
      const everywhere = new Set(characters.keys()).add(characters.length);
      return reach(node, characters, everywhere, work).size > 0;
    },
    sample: (extra, pick, work) => write(node, extra, pick, work),
  };
}

/** The positions at which a match of `node` can end that began at one of `starts`. */
function reach(node: PatternNode, text: readonly string[], starts: ReadonlySet<number>, work: WorkBudget): Set<number> {
  work.spend(1 + starts.size);
  const keep = (test: (at: number) => boolean) => new Set([...starts].filter(test));
  switch (node.kind) {
    case 'character': {
      const ends = new Set<number>();
      for (const at of starts) if (node.accepts(text[at] ?? '')) ends.add(at + 1);
      return ends;
    }
    case 'sequence':
      return node.items.reduce((reached, item) => (reached.size ? reach(item, text, reached, work) : reached), new Set(starts));
    case 'choice':
      return new Set(node.items.flatMap((item) => [...reach(item, text, starts, work)]));
    case 'repeat':
      return reachRepeat(node, text, starts, work);
    case 'start':
      return keep((at) => at === 0);
    case 'end':
      return keep((at) => at === text.length);
    case 'boundary':
      return keep((at) => (isWordCharacter(text[at - 1] ?? '') !== isWordCharacter(text[at] ?? '')) !== node.negated);
    case 'ahead':
      return keep((at) => reach(node.item, text, new Set([at]), work).size > 0 !== node.negated);
    default:
      return node satisfies never;
  }
}

function reachRepeat(
  node: PatternNode & { kind: 'repeat' },
  text: readonly string[],
  starts: ReadonlySet<number>,
  work: WorkBudget,
): Set<number> {
  const ends = new Set<number>(node.min === 0 ? starts : []);
  let current: ReadonlySet<number> = starts;
  for (let times = 1; times <= node.max && current.size > 0; times += 1) {
    current = reach(node.item, text, current, work);
    if (times < node.min) continue;
    const known = ends.size;
    for (const at of current) ends.add(at);
    // One more round can only go where this one went, so a round that finds nothing new is the last.
    if (ends.size === known) break;
  }
  return ends;
}

function write(node: PatternNode, extra: number, pick: number, work: WorkBudget): string {
  work.spend(1);
  switch (node.kind) {
    case 'character':
      return node.examples[pick % node.examples.length] ?? '';
    case 'sequence':
      return node.items.map((item) => write(item, extra, pick, work)).join('');
    case 'choice': {
      const chosen = node.items[pick % node.items.length];
      return chosen ? write(chosen, extra, pick, work) : '';
    }
    case 'repeat': {
      const times = Math.min(node.max, node.min + extra);
      work.spend(times);
      return Array.from({ length: times }, (_, index) => write(node.item, extra, pick + index, work)).join('');
    }
    case 'start':
    case 'end':
    case 'boundary':
    case 'ahead':
      return '';
    default:
      return node satisfies never;
  }
}
