import { inOpenAiNotation, invalidInput } from '../../kernel/invalid-input.ts';
import { isRecord } from '../usage.ts';
import { type FieldRules, unpricedFeature } from './field-rule.ts';
import type { KnownNames } from './spelling.ts';

type Loc = readonly (string | number)[];

/**
 * A field that is in no table goes to the provider as it came. What is inside of it (`options`, `extra_body`, `generation_config`,
 * `sampling_params`) some provider reads as fields of the request, and puts it above what was held: nothing that costs may be there.
 * @throws Problem `validation_failed`, `unpriced_feature`
 */
export function requireNothingNested(request: unknown, fields: FieldRules, names: KnownNames): void {
  if (!isRecord(request)) return;
  for (const name in request) {
    const isKnown = names.has(name);
    if (isKnown && !(Object.hasOwn(fields, name) && fields[name]?.mayHoldFields)) continue;
    if (!isKnown && readsAsBound(name)) throw unpricedFeature(anotherBound(name));
    requireNoFieldsIn(request[name], { fields, names }, [name]);
  }
}

interface Known {
  readonly fields: FieldRules;
  readonly names: KnownNames;
}

function requireNoFieldsIn(value: unknown, known: Known, loc: Loc): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) requireNoFieldsIn(one, known, [...loc, index]);
    return;
  }
  if (!isRecord(value)) return;
  for (const name in value) {
    const member = value[name];
    if (member === null || member === undefined) continue;
    const at = [...loc, name];
    const meant = known.names.has(name) ? name : known.names.meantBy(name);
    if (meant !== undefined) requireCostless(member, meant, known, at);
    else if (readsAsBound(name)) throw unpricedFeature(anotherBound(inOpenAiNotation(at)));
    else requireNoFieldsIn(member, known, at);
  }
}

function requireCostless(value: unknown, meant: string, { fields }: Known, loc: Loc): void {
  const rule = Object.hasOwn(fields, meant) ? fields[meant] : undefined;
  if (!rule) throw misplaced(meant, loc);
  switch (rule.kept) {
    case 'free':
      // A provider that reads another model there asks a dearer one.
      if (meant === 'model' || meant === 'models') throw misplaced(meant, loc);
      return;
    case 'refused': {
      const found = rule.unpriced?.(value, inOpenAiNotation(loc));
      if (found) throw unpricedFeature(found);
      return;
    }
    case 'counted':
      throw misplaced(meant, loc);
    default:
      throw rule.kept satisfies never;
  }
}

const misplaced = (meant: string, loc: Loc) =>
  invalidInput([{ loc: ['body', ...loc], msg: `must be written \`${meant}\`, at the top of the request`, type: 'misplaced' }]);

const FIRST = new Set(['max', 'min', 'num', 'n', 'number']);
const LAST = new Set(
  ['token', 'tokens', 'predict', 'beam', 'beams', 'sequence', 'sequences', 'candidate', 'candidates', 'completion', 'completions'].concat(
    ...[['generation', 'generations', 'response', 'responses', 'choice', 'choices', 'answer', 'answers', 'output', 'outputs']],
  ),
);
/** What is bounded or counted then is not what comes out. */
const HARMLESS = new Set(['prompt', 'input', 'context', 'thinking', 'reasoning', 'thought', 'search', 'cache', 'cached', 'tool']);

/** `max_reply_tokens`, `numAnswers`: of a dialect that nobody has looked at, but what it does is in its name. */
function readsAsBound(name: string): boolean {
  if (name.length > 64) return false;
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return FIRST.has(words[0] ?? '') && LAST.has(words.at(-1) ?? '') && !words.some((word) => HARMLESS.has(word));
}

const anotherBound = (param: string) => ({ param, what: 'fields that read as another bound on tokens out, or another number of answers' });
