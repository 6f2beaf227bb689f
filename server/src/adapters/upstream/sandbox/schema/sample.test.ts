import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../kernel/turn.ts';
import { type Sample, sampling } from './sample.ts';

const sampleSchema = (schema: unknown): Sample => atOnce(sampling(schema));

const FORMATS = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
  'regex',
];

function isValid(schema: boolean | object, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
  addFormats.default(ajv);
  // As it will be read: out of JSON.
  return ajv.compile(schema)(JSON.parse(JSON.stringify(value)));
}

function sampled(schema: boolean | object): unknown {
  const sample = sampleSchema(schema);
  if (!sample.ok) throw new Error(`${sample.reason}: ${JSON.stringify(schema)}`);
  return sample.value;
}

const conditional = (branches: readonly unknown[]): object =>
  Object.fromEntries(['if', 'then', 'else'].map((keyword, index) => [keyword, branches[index]]));

const bounds = (min: string, max: string, most: number) =>
  fc
    .record({ low: fc.nat(most), width: fc.nat(most), hasLow: fc.boolean(), hasHigh: fc.boolean() })
    .map(({ low, width, hasLow, hasHigh }) => ({ ...(hasLow && { [min]: low }), ...(hasHigh && { [max]: low + width }) }));

const name = fc.constantFrom('city', 'unit', 'a', 'constructor', 'größe');
const pattern = fc.constantFrom(
  '^[A-Z]{2,4}-\\d+$',
  '^(foo|bar)+$',
  'x.z',
  '^\\+?[1-9]\\d{1,14}$',
  '^(?=.*\\d)(?=.*[A-Z])[\\w]{3,}$',
  '\\bend$',
  '^[^a-z]*$',
);

/** Without keys such as `toString`, on which the validator itself fails. */
const plain = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer()),
  fc.record({ a: fc.string() }, { noNullPrototype: true }),
);

/** Schemas that can be satisfied, by the way they are built. */
const { satisfiable } = fc.letrec<{ satisfiable: object; scalar: object; list: object; record: object; union: object }>((tie) => ({
  satisfiable: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('scalar'), tie('record'), tie('list'), tie('union')),
  scalar: fc.oneof(
    bounds('minLength', 'maxLength', 30).map((length) => ({ type: 'string', ...length })),
    pattern.map((source) => ({ type: 'string', pattern: source })),
    fc.constantFrom(...FORMATS).map((format) => ({ type: 'string', format })),
    bounds('minimum', 'maximum', 1000).map((range) => ({ type: 'integer', ...range })),
    fc
      .record({ exclusiveMinimum: fc.integer({ min: -50, max: 50 }), width: fc.constantFrom(0.25, 1, 7) })
      .map(({ exclusiveMinimum, width }) => ({
        type: 'number',
        exclusiveMinimum,
        exclusiveMaximum: exclusiveMinimum + width,
      })),
    fc
      .record({ minimum: fc.integer({ min: -99, max: 99 }), multipleOf: fc.constantFrom(0.01, 0.1, 0.5, 3, 7) })
      .map((range) => ({ type: 'number', ...range })),
    fc.constantFrom({ type: 'boolean' }, { type: 'null' }, {}, { type: ['null', 'integer'] }, { type: ['string', 'null'] }),
    fc.array(plain, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
    plain.map((value) => ({ const: value })),
  ),
  list: fc.oneof(
    fc
      .record({ items: tie('satisfiable'), size: bounds('minItems', 'maxItems', 4) })
      .map(({ items, size }) => ({ type: 'array', items, ...size })),
    fc.array(tie('satisfiable'), { minLength: 1, maxLength: 3 }).map((prefixItems) => ({ type: 'array', prefixItems, items: false })),
    fc.nat(8).map((minItems) => ({ type: 'array', items: { type: 'string', minLength: 2 }, uniqueItems: true, minItems })),
    tie('scalar').map((contains) => ({ type: 'array', contains, minItems: 2 })),
  ),
  record: fc
    .record({
      properties: fc.dictionary(name, tie('satisfiable'), { maxKeys: 4 }),
      required: fc.subarray(['city', 'unit', 'a', 'constructor']),
      additionalProperties: fc.oneof(fc.constant(true), tie('scalar')),
      extra: fc.record({ minProperties: fc.nat(6) }, { requiredKeys: [] }),
    })
    .map(({ extra, ...keywords }) => ({ type: 'object', ...keywords, ...extra })),
  union: fc.oneof(
    fc.array(tie('satisfiable'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    tie('record').map((base) => ({ allOf: [base, { required: ['a'], properties: { a: true } }] })),
    tie('satisfiable').map((one) => ({ oneOf: [one, false] })),
    tie('satisfiable').map((one) => ({ $defs: { one }, allOf: [one] })),
  ),
}));

const nested = (levels: number) =>
  Array.from({ length: levels }).reduce<object>((inner) => ({ additionalProperties: inner, const: [inner] }), {});
const many = (first: number) => Array.from({ length: 9_000 }, (_, index) => 2 * index + first);

describe('values made from a JSON Schema', () => {
  it('are valid for every schema that can be satisfied, as a real validator sees it', () => {
    fc.assert(
      fc.property(satisfiable, (schema) => {
        expect(isValid(schema, sampled(schema))).toBe(true);
      }),
      { numRuns: 120 },
    );
  });

  it('are valid or refused, but never wrong, where keywords are thrown together', () => {
    const keyword = fc.oneof(
      satisfiable,
      satisfiable.map((not) => ({ not })),
      fc.tuple(satisfiable, satisfiable).map((oneOf) => ({ oneOf })),
      fc.tuple(satisfiable, satisfiable).map((allOf) => ({ allOf })),
      fc.tuple(satisfiable, satisfiable, satisfiable).map(conditional),
      fc.record({
        maxProperties: fc.nat(3),
        propertyNames: fc.record({ pattern }),
        patternProperties: fc.dictionary(pattern, satisfiable),
      }),
      fc.record({ dependentRequired: fc.dictionary(name, fc.uniqueArray(name)), minProperties: fc.nat(3) }),
    );
    const jumble = fc.array(keyword, { minLength: 2, maxLength: 3 }).map((parts) => Object.assign({}, ...parts));
    fc.assert(
      fc.property(jumble, (schema) => {
        const sample = sampleSchema(schema);
        if (sample.ok) expect(isValid(schema, sample.value)).toBe(true);
        else expect(sample.reason).toMatch(/\w/);
      }),
      { numRuns: 120 },
    );
  });

  it('are the same every time', () => {
    fc.assert(
      fc.property(satisfiable, (schema) => void expect(sampleSchema(schema)).toEqual(sampleSchema(structuredClone(schema)))),
      { numRuns: 50 },
    );
  });

  it('never fail otherwise than by a refusal, whatever stands where a schema should', () => {
    const names = [
      'type',
      'items',
      'properties',
      'required',
      'enum',
      'anyOf',
      '$ref',
      'pattern',
      'minItems',
      'maxLength',
      'format',
      'multipleOf',
      'not',
      'if',
    ];
    const garbage = fc.dictionary(
      fc.constantFrom(...names),
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('#', '#/properties', '(', '[z-a]', 1e300, -1)),
    );
    fc.assert(
      fc.property(garbage, (schema) => void sampleSchema(schema)),
      { numRuns: 200 },
    );
  });

  it('are full, one item to a list, and named after their property', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 1, maximum: 7, default: 3 },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        tags: { type: 'array', items: { type: 'string', examples: ['sunny'] } },
      },
      required: ['city'],
      additionalProperties: false,
    };
    expect(sampled(schema)).toEqual({ city: 'sandbox city', days: 3, unit: 'celsius', tags: ['sunny'] });
  });

  it('have properties of their own, whatever these are called', () => {
    const properties = JSON.parse('{"__proto__":{"type":"integer"},"constructor":{"type":"string"}}');
    const value = sampled({ type: 'object', properties, required: ['__proto__', 'hasOwnProperty'] });
    expect(JSON.stringify(value)).toBe('{"__proto__":1,"constructor":"sandbox constructor","hasOwnProperty":"sandbox hasOwnProperty"}');
  });

  it('end soon where the schema refers to itself', () => {
    const nullable = { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] };
    const node = {
      type: 'object',
      properties: { left: nullable, right: nullable, value: { type: 'integer' } },
      required: ['left', 'right'],
    };
    const tree = { $ref: '#/$defs/node', $defs: { node } };
    const leaf = { left: null, right: null };
    expect(sampled(tree)).toEqual({ left: leaf, right: leaf, value: 1 });
    const linked = {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      required: ['name', 'children'],
    };
    expect(sampled(linked)).toEqual({ name: 'sandbox name', children: [{ name: 'sandbox name', children: [] }] });
  });

  it.each([
    [
      'what schema libraries write for an e-mail address',
      {
        type: 'string',
        format: 'email',
        pattern: "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
      },
    ],
    ['a format with a length', { type: 'string', format: 'uri', minLength: 200 }],
    ['a pattern with a length', { type: 'string', pattern: '^[a-z]+@[a-z]+$', minLength: 60, maxLength: 70 }],
    ['a pattern by property class', { type: 'string', pattern: '^\\p{Lu}\\p{Ll}+$' }],
    ['distinct texts of one shape', { type: 'array', items: { type: 'string', pattern: '^[A-Z]{3}$' }, uniqueItems: true, minItems: 5 }],
    [
      'distinct objects',
      {
        type: 'array',
        items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        uniqueItems: true,
        minItems: 4,
      },
    ],
    [
      'a discriminated union',
      {
        oneOf: [
          { properties: { kind: { const: 'a' } }, required: ['kind'] },
          { properties: { kind: { const: 'b' } }, required: ['kind'] },
        ],
      },
    ],
    ['a reference with escapes', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'integer', minimum: 5 } } }],
    [
      'properties by pattern',
      { type: 'object', patternProperties: { '^x-': { type: 'integer' } }, additionalProperties: false, minProperties: 2 },
    ],
    [
      'a condition',
      {
        properties: { a: { type: 'integer' } },
        required: ['a'],
        ...conditional([{ properties: { a: { maximum: 10 } } }, { required: ['why'] }, true]),
      },
    ],
  ])('cover %s', (_, schema) => {
    expect(isValid(schema, sampled(schema))).toBe(true);
  });

  it.each([
    [
      'a bomb of references',
      {
        $ref: '#/$defs/a0',
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [
            `a${i}`,
            { type: 'array', prefixItems: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }], minItems: 2 },
          ]),
        ),
      },
    ],
    ['endless nesting', Array.from({ length: 3000 }).reduce<object>((inner) => ({ allOf: [inner] }), {})],
    ['endless nesting of values', nested(3000)],
    ['endless nesting of constants', { allOf: [{ const: nested(4000) }, { const: nested(4000) }] }],
    ['a schema beyond reason', { enum: Array.from({ length: 100_000 }, (_, index) => index) }],
    ['comparisons without end', { $ref: '#/$defs/big', enum: many(1), $defs: { big: { enum: many(0) } }, not: {} }],
    ['a reference to itself', { $ref: '#' }],
    ['a value without an end', { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }],
    ['a list beyond reason', { type: 'array', minItems: 1e9 }],
    ['a text beyond reason', { type: 'string', minLength: 1e12 }],
    ['a pattern that stops backtracking engines', { pattern: '^(a+)+$', enum: [`${'a'.repeat(5_000)}!`] }],
    ['repeats of repeats', { type: 'string', pattern: '(((x{1000}){1000}){1000}){1000}' }],
    ['a pattern that is none', { type: 'string', pattern: '(' }],
    ['a contradiction', { type: 'string', minLength: 5, maxLength: 2 }],
    ['a reference that leads nowhere', { $ref: '#/$defs/missing' }],
    ['a reference to another document', { $ref: 'https://example.com/schema.json' }],
  ])('are refused with a reason, and quickly, for %s', (_, schema) => {
    const before = process.threadCpuUsage();
    const sample = sampleSchema(schema);
    expect(sample).toEqual({ ok: false, reason: expect.stringMatching(/\w/) });
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
