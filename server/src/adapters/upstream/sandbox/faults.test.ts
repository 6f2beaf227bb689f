import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAULTS, parseFault } from './faults.ts';

const guide = readFileSync(new URL('../../../../../docs/guides/sandbox.md', import.meta.url), 'utf8');

describe('X-Sandbox-Fault', () => {
  it.each(Object.keys(FAULTS))('knows "%s", and so does the guide', (name) => {
    expect(parseFault(name)).toMatchObject({ name });
    expect(guide).toContain(`| \`${name}`);
  });

  it.each([
    ['429;retry-after=2', { name: '429', amount: 2 }],
    ['429', { name: '429', amount: null }],
    [' Cut ; After=0 ', { name: 'cut', amount: 0 }],
    ['slow;ms=50', { name: 'slow', amount: 50 }],
    ['slow-first-byte', { name: 'slow-first-byte', amount: 1000 }],
    [undefined, undefined],
  ])('reads %j', (header, fault) => {
    expect(parseFault(header)).toEqual(fault);
  });

  it.each([
    '',
    'nonsense',
    '418',
    'toString',
    'cut;ms=3',
    'cut;after=-1',
    'cut;after=1e3',
    'slow;ms=99999999',
    '500;after=1',
    'cut;',
    'cut;after=1;after=2',
    'x'.repeat(9000),
  ])('refuses %j and lists what is valid', (header) => {
    expect(parseFault(header)).toMatchObject({ ok: false, message: expect.stringMatching(/Valid: .*429\[;retry-after=N\].*overrun/) });
  });
});
