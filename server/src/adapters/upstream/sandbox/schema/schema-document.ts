import { formatNamed } from './formats.ts';
import {
  isRecord,
  type Keywords,
  listAt,
  numberAt,
  recordAt,
  resolveReference,
  type Schema,
  stringsAt,
  type TypeName,
  typesOf,
} from './json-schema.ts';
import { compilePattern, type Pattern } from './pattern.ts';
import { SchemaRefusal, WorkBudget } from './refusal.ts';

const DEEPEST = 200;
const STEPS_PER_COMPARISON = 0.1;
const STEPS_PER_CHARACTER = 0.001;

/** One schema document under work: where references point, what is compiled already, and how much work is left. */
export class SchemaDocument {
  readonly root: Schema;
  readonly work: WorkBudget;
  readonly #patterns = new Map<string, Pattern>();
  /** Whether a text whose format is in doubt passes: so it must where passing makes the outer schema fail. */
  #isLenient = false;
  /** How often a format was in doubt so far. */
  #doubts = 0;

  constructor(root: Schema, steps: number) {
    this.root = root;
    this.work = new WorkBudget(steps);
  }

  matches(pattern: string, text: string): boolean {
    return this.pattern(pattern).matches(text, this.work);
  }

  pattern(source: string): Pattern {
    const known = this.#patterns.get(source);
    if (known) return known;
    this.work.spend(source.length);
    const pattern = compilePattern(source);
    this.#patterns.set(source, pattern);
    return pattern;
  }

  /** Whether two values of JSON are the same, the order of properties aside. */
  equals(left: unknown, right: unknown): boolean {
    this.work.spend(STEPS_PER_COMPARISON);
    if (Array.isArray(left) && Array.isArray(right)) {
      return left.length === right.length && left.every((item, index) => this.equals(item, right[index]));
    }
    if (!isRecord(left) || !isRecord(right)) return left === right;
    const names = Object.keys(left);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && this.equals(left[name], right[name]))
    );
  }

  /**
   * Whether `value` is valid against `schema` (2020-12, and the array form of `items` of earlier drafts).
   * `format` is held to a part of what it allows; `unevaluated*` and dynamic references are not looked at.
   */
  accepts(schema: Schema, value: unknown, depth = 0): boolean {
    this.work.spend(1);
    if (depth > DEEPEST) throw new SchemaRefusal('the schema is nested too deeply, or refers to itself without end');
    if (!isRecord(schema)) return schema !== false;
    return (
      this.#acceptsType(schema, value) &&
      (!Object.hasOwn(schema, 'const') || this.equals(value, schema['const'])) &&
      (!Array.isArray(schema['enum']) || schema['enum'].some((one) => this.equals(value, one))) &&
      (typeof value !== 'string' || this.#acceptsString(schema, value)) &&
      (typeof value !== 'number' || acceptsNumber(schema, value)) &&
      (!Array.isArray(value) || this.#acceptsArray(schema, value, depth + 1)) &&
      (!isRecord(value) || this.#acceptsObject(schema, value, depth + 1)) &&
      this.#acceptsCombined(schema, value, depth + 1)
    );
  }

  #acceptsType(schema: Keywords, value: unknown): boolean {
    const types = typesOf(schema);
    return types === undefined || types.some((type) => isOfType(type, value));
  }

  #acceptsString(schema: Keywords, value: string): boolean {
    this.work.spend(value.length * STEPS_PER_CHARACTER);
    const { pattern } = schema;
    // A value that the schema's author wrote down is in its format because the author says so.
    const format = schema['enum'] === undefined && schema['const'] === undefined ? formatNamed(schema['format']) : undefined;
    if (format && !format.test.test(value)) {
      this.#doubts += 1;
      if (!this.#isLenient) return false;
    }
    return within(schema, 'minLength', 'maxLength', lengthOf(value)) && (typeof pattern !== 'string' || this.matches(pattern, value));
  }

  #acceptsArray(schema: Keywords, value: readonly unknown[], depth: number): boolean {
    if (!within(schema, 'minItems', 'maxItems', value.length)) return false;
    if (schema['uniqueItems'] === true && !this.#areDistinct(value)) return false;
    if (!value.every((item, index) => this.accepts(itemSchema(schema, index), item, depth))) return false;
    if (schema['contains'] === undefined) return true;
    const found = value.filter((item) => this.accepts(schema['contains'], item, depth)).length;
    return found >= (numberAt(schema, 'minContains') ?? 1) && found <= (numberAt(schema, 'maxContains') ?? Infinity);
  }

  #areDistinct(items: readonly unknown[]): boolean {
    return items.every((item, index) => !items.slice(0, index).some((other) => this.equals(item, other)));
  }

  #acceptsObject(schema: Keywords, value: Record<string, unknown>, depth: number): boolean {
    const names = Object.keys(value);
    const has = (name: string) => Object.hasOwn(value, name);
    return (
      within(schema, 'minProperties', 'maxProperties', names.length) &&
      stringsAt(schema, 'required').every(has) &&
      names.every((name) => this.propertySchemas(schema, name).every((one) => this.accepts(one, value[name], depth))) &&
      (schema['propertyNames'] === undefined || names.every((name) => this.accepts(schema['propertyNames'], name, depth))) &&
      Object.entries(recordAt(schema, 'dependentRequired')).every(
        ([name, others]) => !has(name) || !Array.isArray(others) || others.every((other) => typeof other !== 'string' || has(other)),
      ) &&
      Object.entries(recordAt(schema, 'dependentSchemas')).every(([name, other]) => !has(name) || this.accepts(other, value, depth))
    );
  }

  /** Every schema that the property of this name has to satisfy. */
  propertySchemas(schema: Keywords, name: string): readonly Schema[] {
    const properties = recordAt(schema, 'properties');
    const declared = Object.hasOwn(properties, name) ? [properties[name]] : [];
    const matching = Object.entries(recordAt(schema, 'patternProperties')).filter(([pattern]) => this.matches(pattern, name));
    const schemas = [...declared, ...matching.map(([, one]) => one)];
    return schemas.length > 0 ? schemas : [schema['additionalProperties'] ?? true];
  }

  #acceptsCombined(schema: Keywords, value: unknown, depth: number): boolean {
    const accepts = (one: Schema) => this.accepts(one, value, depth);
    const { $ref, anyOf, oneOf } = schema;
    if (typeof $ref === 'string' && !accepts(resolveReference(this.root, $ref))) return false;
    if (!listAt(schema, 'allOf').every(accepts)) return false;
    if (Array.isArray(anyOf) && !anyOf.some(accepts)) return false;
    const mayAccept = (one: Schema) => this.#acceptsOtherwise(one, value, depth);
    if (Array.isArray(oneOf) && (!oneOf.some(accepts) || oneOf.filter(mayAccept).length > 1)) return false;
    if (schema['not'] !== undefined && mayAccept(schema['not'])) return false;
    if (schema['if'] === undefined) return true;
    return (!mayAccept(schema['if']) || accepts(schema['then'] ?? true)) && (accepts(schema['if']) || accepts(schema['else'] ?? true));
  }

  /** `accepts` with doubts about formats decided the other way. */
  #acceptsOtherwise(schema: Schema, value: unknown, depth: number): boolean {
    const doubts = this.#doubts;
    const accepted = this.accepts(schema, value, depth);
    if (this.#doubts === doubts) return accepted;
    this.#isLenient = !this.#isLenient;
    const otherwise = this.accepts(schema, value, depth);
    this.#isLenient = !this.#isLenient;
    return otherwise;
  }
}

/** The schema of the item at `index`: `prefixItems` and `items`, or the array form of `items` and `additionalItems`. */
export function itemSchema(schema: Keywords, index: number): Schema {
  const { items } = schema;
  const prefix = prefixOf(schema);
  if (index < prefix.length) return prefix[index];
  return (Array.isArray(items) ? schema['additionalItems'] : items) ?? true;
}

export const prefixOf = (schema: Keywords): readonly Schema[] => listAt(schema, Array.isArray(schema['items']) ? 'items' : 'prefixItems');

/** In characters, as the specification counts them, not in UTF-16 units. */
export const lengthOf = (text: string): number => {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
};

const within = (schema: Keywords, least: string, most: string, size: number): boolean =>
  size >= (numberAt(schema, least) ?? 0) && size <= (numberAt(schema, most) ?? Infinity);

function acceptsNumber(schema: Keywords, value: number): boolean {
  const step = numberAt(schema, 'multipleOf');
  return (
    value >= (numberAt(schema, 'minimum') ?? -Infinity) &&
    value <= (numberAt(schema, 'maximum') ?? Infinity) &&
    value > (numberAt(schema, 'exclusiveMinimum') ?? -Infinity) &&
    value < (numberAt(schema, 'exclusiveMaximum') ?? Infinity) &&
    (step === undefined || Number.isInteger(value / step))
  );
}

function isOfType(name: TypeName, value: unknown): boolean {
  switch (name) {
    case 'string':
    case 'boolean':
      return typeof value === name;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    default:
      return name satisfies never;
  }
}
