import { inOpenAiNotation, invalidInput } from '../../kernel/invalid-input.ts';
import { isRecord } from '../usage.ts';
import { type FieldRules, unpricedFeature } from './field-rule.ts';
import { meaningOf } from './reads-as.ts';
import { type KnownNames, requireAscii } from './spelling.ts';

type Loc = readonly (string | number)[];

/** Fields of which some client library, gateway or server makes fields of the request. */
const EXTENSIONS: ReadonlySet<string> = new Set(
  ['extra_body', 'extra_params', 'options', 'parameters', 'params', 'generation_config', 'sampling_params', 'model_kwargs'].concat(
    ...[['model_parameters', 'provider_options', 'inference_config', 'additional_model_request_fields', 'kwargs', 'vllm_xargs', 'nvext']],
  ),
);
/** JSON in a string, also as a list of objects or within a further string. */
const WRITTEN_OBJECT = /^[\s["\\]*\{[\s\\]*"/;

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
    const value = request[name];
    if (value === null || value === undefined) continue;
    if (!isKnown) requireNoMeaning(value, { fields, loc: [name] });
    if (EXTENSIONS.has(name.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase())) requireExtension(value, name);
    requireNoFieldsIn(value, { fields, names }, [name]);
  }
}

/** @throws Problem `validation_failed` for what is no object, or has members whose names only look like known ones */
function requireExtension(value: unknown, name: string): void {
  if (!isRecord(value)) throw invalidInput([{ loc: ['body', name], msg: 'must be an object', type: 'not_an_object' }]);
  for (const member in value) requireAscii(member, [name]);
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
  if (typeof value === 'string' && WRITTEN_OBJECT.test(value))
    throw invalidInput([{ loc: ['body', ...loc], msg: 'must be an object, not JSON in a string', type: 'not_an_object' }]);
  if (!isRecord(value)) return;
  for (const name in value) {
    const member = value[name];
    if (member === null || member === undefined) continue;
    const at = [...loc, name];
    const meant = known.names.has(name) ? name : known.names.meantBy(name);
    if (meant !== undefined) requireCostless(member, meant, known, at);
    else {
      requireNoMeaning(member, { fields: known.fields, loc: at });
      requireNoFieldsIn(member, known, at);
    }
  }
}

/** @throws Problem `validation_failed` with the field to write in its place, or `unpriced_feature` where the operation has none */
function requireNoMeaning(value: unknown, { fields, loc }: { readonly fields: FieldRules; readonly loc: Loc }): void {
  const meaning = meaningOf(String(loc.at(-1)), value, fields);
  if (!meaning) return;
  if (meaning.use === undefined) throw unpricedFeature({ param: inOpenAiNotation(loc), what: `fields that read as ${meaning.what}` });
  throw invalidInput([{ loc: ['body', ...loc], msg: `must be written \`${meaning.use}\`: it reads as ${meaning.what}`, type: 'misspelt' }]);
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
