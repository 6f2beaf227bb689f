import { describe, expect, test } from 'vitest';
import { Problem } from '../../../kernel/problem.ts';
import { FormFields } from './form-fields.ts';

function read(...pairs: [string, string][]): Record<string, unknown> {
  const fields = new FormFields();
  for (const [name, text] of pairs) fields.add(name, text);
  return fields.value;
}

describe('the fields of a form', () => {
  test.each<[string, [string, string][], Record<string, unknown>]>([
    [
      'texts',
      [
        ['purpose', 'batch'],
        ['n', '1'],
        ['empty', ''],
      ],
      { purpose: 'batch', n: '1', empty: '' },
    ],
    [
      'an array',
      [
        ['include[]', 'logprobs'],
        ['include[]', 'usage'],
      ],
      { include: ['logprobs', 'usage'] },
    ],
    ['an array of one', [['timestamp_granularities[]', 'word']], { timestamp_granularities: ['word'] }],
    [
      'an object',
      [
        ['expires_after[anchor]', 'created_at'],
        ['expires_after[seconds]', '3600'],
      ],
      { expires_after: { anchor: 'created_at', seconds: '3600' } },
    ],
    [
      'objects in objects',
      [
        ['a[b][c]', '1'],
        ['a[b][d]', '2'],
      ],
      { a: { b: { c: '1', d: '2' } } },
    ],
    [
      'an array in an object',
      [
        ['a[b][]', '1'],
        ['a[b][]', '2'],
      ],
      { a: { b: ['1', '2'] } },
    ],
    [
      'an array of objects',
      [
        ['t[][type]', 'x'],
        ['t[][name]', 'y'],
        ['t[][type]', 'z'],
      ],
      { t: [{ type: 'x', name: 'y' }, { type: 'z' }] },
    ],
    [
      'brackets that do not match',
      [
        ['a[b', '1'],
        ['a]', '2'],
        ['[x]', '3'],
      ],
      { 'a[b': '1', 'a]': '2', '[x]': '3' },
    ],
    [
      'names that objects inherit',
      [
        ['constructor', '1'],
        ['a[toString]', '2'],
        ['a[constructor][prototype]', '3'],
      ],
      { constructor: '1', a: { toString: '2', constructor: { prototype: '3' } } },
    ],
  ])('are %s', (_what, pairs, expected) => expect(read(...pairs)).toEqual(expected));

  test.each<[string, [string, string][]]>([
    [
      'a text twice',
      [
        ['purpose', 'batch'],
        ['purpose', 'vision'],
      ],
    ],
    [
      'a text and an array',
      [
        ['a', '1'],
        ['a[]', '2'],
      ],
    ],
    [
      'an array and a text',
      [
        ['a[]', '1'],
        ['a', '2'],
      ],
    ],
    [
      'a text and an object',
      [
        ['a', '1'],
        ['a[b]', '2'],
      ],
    ],
    [
      'an array and an object',
      [
        ['a[]', '1'],
        ['a[b]', '2'],
      ],
    ],
    ['an array in an array', [['a[][]', '1']]],
    ['more levels than anybody needs', [['a[b][c][d][e][f][g]', '1']]],
    ['the prototype', [['__proto__[polluted]', '1']]],
    ['the prototype of an object', [['a[__proto__][polluted]', '1']]],
    ['the prototype itself', [['__proto__', '1']]],
  ])('are refused with %s', (_what, pairs) => {
    expect(() => read(...pairs)).toThrow(Problem);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
