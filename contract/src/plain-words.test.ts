import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { CreateKeyRequest, KeyBudgetUpdateRequest, LoginRequest, SCOPES } from './index.ts';

const said = (schema: z.ZodType, input: unknown): string[] =>
  schema.safeParse(input).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
const field = (schema: z.ZodType, value: unknown): string | undefined => said(z.object({ x: schema }), { x: value })[0];

test.each<[z.ZodType, unknown, string]>([
  [z.string(), undefined, 'is required'],
  [z.string(), null, 'must be a string, not null'],
  [z.string(), 3, 'must be a string, not a number'],
  [z.boolean(), 'true', 'must be true or false, not a string'],
  [z.object({}), [], 'must be an object, not an array'],
  [z.array(z.string()), {}, 'must be an array, not an object'],
  [z.number(), Number.NaN, 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.coerce.number().int(), 'abc', 'must be a number'],
  [z.string().min(1), '', 'must have at least 1 character'],
  [z.string().max(80), 'x'.repeat(81), 'must have at most 80 characters'],
  [z.string().length(3), 'x', 'must have exactly 3 characters'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().gt(0), 0, 'must be more than 0'],
  [z.number().lt(2), 2, 'must be less than 2'],
  [z.number().multipleOf(0.5), 0.3, 'must be a multiple of 0.5'],
  [z.email(), 'ada', 'must be an e-mail address such as ada@example.com'],
  [z.uuid(), '1', 'must be an id such as 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'],
  [z.iso.datetime(), 'today', 'must be a time in UTC such as 2026-11-21T08:00:00Z'],
  [z.string().regex(/^a/), 'b', 'is not written as it has to be'],
  [z.enum(['a', 'b', 'c']), 'd', 'must be "a", "b" or "c"'],
  [z.literal(true), false, 'must be true'],
  [z.literal('on'), undefined, 'is required'],
  [z.union([z.string(), z.number()]), true, 'must be a string or a number'],
  [z.union([z.string().min(2), z.array(z.string())]), 'x', 'must have at least 2 characters'],
  [z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), {}, 'has none of the forms that it may have'],
  [z.strictObject({}), { a: 1 }, 'has a field that is not known: "a"'],
  [z.string().refine(() => false), 'x', 'is not valid'],
])('%# an error message continues the field’s name', (schema, value, words) => {
  expect(field(schema, value)).toBe(`x ${words}`);
});

test('a name that is not allowed is reported at that name', () => {
  expect(said(z.record(z.string().max(2), z.string()), { abc: 'x' })).toEqual(['abc has a name that must have at most 2 characters']);
});

test('a form that is chosen by one of its fields says which values that field has', () => {
  const either = z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]);
  expect(said(either, { type: 'c' })).toEqual(['type must be "a" or "b"']);
});

describe('the contract', () => {
  test.each<[z.ZodType, unknown, string]>([
    [CreateKeyRequest, { name: '' }, 'name must have at least 1 character'],
    [CreateKeyRequest, { name: 'x', monthly_cap_usd: '1e3' }, 'monthly_cap_usd must be a decimal number of USD such as "25" or "0.01"'],
    [CreateKeyRequest, { name: 'a\nb' }, 'name must not contain control characters'],
    [
      CreateKeyRequest,
      { name: 'x', scopes: ['all'] },
      `scopes.0 must be ${SCOPES.slice(0, -1)
        .map((scope) => `"${scope}"`)
        .join(', ')} or "${SCOPES.at(-1)}"`,
    ],
    [LoginRequest, { email: 'ada', password: 'x' }, 'email must be an e-mail address such as ada@example.com'],
    [KeyBudgetUpdateRequest, {}, 'monthly_cap_usd is required'],
    [
      KeyBudgetUpdateRequest,
      { monthly_cap_usd: '1', alert_thresholds: [80, 50] },
      'alert_thresholds must have each threshold once, in ascending order',
    ],
  ])('%# speaks plainly', (schema, input, words) => {
    expect(said(schema, input)).toEqual([words]);
  });
});
