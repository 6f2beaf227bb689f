import { inOpenAiNotation, invalidInput } from '../../../kernel/invalid-input.ts';
import { isRecord } from '../usage.ts';
import { type FieldRules, unpricedFeature } from './field-rule.ts';
import { snakeCase } from './names-of-content.ts';
import { featureIn, featureOfText, isDescriptive } from './provider-features.ts';
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

/** What an operation knows: its path, its fields, and all names that a field of its requests can have. */
interface Known {
  readonly path: string;
  readonly fields: FieldRules;
  readonly names: KnownNames;
}

/**
 * A field that is in no table goes to the provider as it came. What is inside of it (`options`, `extra_body`, `generation_config`,
 * `sampling_params`) some provider reads as fields of the request, and puts it above what was held: nothing that costs may be there.
 * @param at where in the request its fields are
 * @throws Problem `validation_failed`, `unpriced_feature`
 */
export function requireNothingNested(request: unknown, known: Known, at: Loc = []): void {
  const { fields, names } = known;
  if (!isRecord(request)) return;
  for (const name in request) {
    const isKnown = names.has(name);
    if (isKnown && !(Object.hasOwn(fields, name) && fields[name]?.mayHoldFields)) continue;
    const value = request[name];
    if (value === null || value === undefined) continue;
    const loc = [...at, name];
    if (!isKnown) requireNoMeaning(value, known, loc);
    if (!isKnown) requireNoFeature(value, known, loc);
    if (EXTENSIONS.has(snakeCase(name))) requireExtension(value, name);
    requireNoFieldsIn(value, known, loc);
  }
}

/** @throws Problem `validation_failed` for what is no object, or has members whose names only look like known ones */
function requireExtension(value: unknown, name: string): void {
  if (!isRecord(value)) throw invalidInput([{ loc: ['body', name], msg: 'must be an object', type: 'not_an_object' }]);
  for (const member in value) requireAscii(member, [name]);
}

function requireNoFieldsIn(value: unknown, known: Known, loc: Loc): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) requireNoFieldsIn(one, known, [...loc, index]);
    return;
  }
  // What describes the request, Codex writes so (`client_metadata`).
  if (typeof value === 'string' && WRITTEN_OBJECT.test(value) && !loc.some((name) => isDescriptive(String(name))))
    throw invalidInput([{ loc: ['body', ...loc], msg: 'must be an object, not JSON in a string', type: 'not_an_object' }]);
  if (typeof value === 'string') requireNoContent(value, known, loc);
  if (!isRecord(value)) return;
  for (const name in value) {
    const member = value[name];
    if (member === null || member === undefined) continue;
    const at = [...loc, name];
    const meant = known.names.has(name) ? name : known.names.meantBy(name);
    if (meant !== undefined) requireCostless(member, meant, known, at);
    else {
      requireNoMeaning(member, known, at);
      requireNoFeature(member, known, at);
      requireNoFieldsIn(member, known, at);
    }
  }
}

/** @throws Problem `validation_failed` with the field to write in its place, or `unpriced_feature` where the operation has none */
function requireNoMeaning(value: unknown, { fields }: Known, loc: Loc): void {
  const meaning = meaningOf(String(loc.at(-1)), value, fields);
  if (!meaning) return;
  if (meaning.use === undefined) throw unpricedFeature({ param: inOpenAiNotation(loc), what: `fields that read as ${meaning.what}` });
  throw invalidInput([{ loc: ['body', ...loc], msg: `must be written \`${meaning.use}\`: it reads as ${meaning.what}`, type: 'misspelt' }]);
}

/** @throws Problem `unpriced_feature` */
function requireNoFeature(value: unknown, { path }: Known, loc: Loc): void {
  const what = featureIn(path, String(loc.at(-1)), value);
  if (what !== undefined && !loc.slice(0, -1).some((name) => isDescriptive(String(name))))
    throw unpricedFeature({ param: inOpenAiNotation(loc), what });
}

/** @throws Problem `unpriced_feature` */
function requireNoContent(text: string, { path, fields }: Known, loc: Loc): void {
  if (loc.length === 1 && Object.hasOwn(fields, String(loc[0]))) return;
  const named = loc.findLast((name) => typeof name === 'string');
  const what = featureOfText(path, String(named), text);
  if (what !== undefined && !loc.some((name) => isDescriptive(String(name)))) throw unpricedFeature({ param: inOpenAiNotation(loc), what });
}

function requireCostless(value: unknown, meant: string, known: Known, loc: Loc): void {
  const { fields } = known;
  const rule = Object.hasOwn(fields, meant) ? fields[meant] : undefined;
  if (!rule) throw misplaced(meant, loc);
  switch (rule.kept) {
    case 'free':
      // A provider that reads another model there asks a dearer one.
      if (meant === 'model' || meant === 'models') throw misplaced(meant, loc);
      if (!isPlaceOfFields(loc)) requireNoAmounts(value, known, loc);
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

/** Whether what is here is a field of the request, and what is inside of it the caller's own. */
const isPlaceOfFields = (loc: Loc): boolean =>
  loc.slice(0, -1).every((name) => EXTENSIONS.has(snakeCase(String(name)))) || isDescriptive(String(loc.at(-1)));

/** Numbers that JSON Schema has, and what holds values of the caller's. */
const SCHEMA_WORDS: ReadonlySet<string> = new Set(
  ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'default', 'const', 'enum', 'example', 'examples'].concat(
    ...[['minProperties', 'maxProperties', 'minContains', 'maxContains']],
  ),
);

/**
 * `foo.json_schema.max_tokens`: in a place that is in no table even the name of a schema or a grammar promises nothing. In a schema a name
 * is followed by an object, never by an amount.
 */
function requireNoAmounts(value: unknown, known: Known, loc: Loc): void {
  if (Array.isArray(value)) for (const [index, one] of value.entries()) requireNoAmounts(one, known, [...loc, index]);
  if (!isRecord(value)) return;
  for (const name in value) {
    if (SCHEMA_WORDS.has(name)) continue;
    const member = value[name];
    const at = [...loc, name];
    if (typeof member === 'object') {
      requireNoAmounts(member, known, at);
      continue;
    }
    const meant = known.names.has(name) ? name : known.names.meantBy(name);
    const isCounted = meant !== undefined && Object.hasOwn(known.fields, meant) && known.fields[meant]?.kept === 'counted';
    if (isCounted && typeof member === 'number') throw misplaced(meant, at);
    requireNoMeaning(member, known, at);
  }
}

const misplaced = (meant: string, loc: Loc) =>
  invalidInput([{ loc: ['body', ...loc], msg: `must be written \`${meant}\`, at the top of the request`, type: 'misplaced' }]);
