import { expect, test } from 'vitest';
import { csvRow } from './csv-row.ts';

test('no cell is a formula to a spreadsheet', () => {
  expect(csvRow(['=1+1', '+1', '-1+1', '@A1', '\t=1', 'a=1', '"=1"'])).toBe(`'=1+1,'+1,'-1+1,'@A1,'\t=1,a=1,"""=1"""\r\n`);
});

test('a number stays one, also below zero', () => {
  expect(csvRow(['-1', '-0.000000005', '12'])).toBe('-1,-0.000000005,12\r\n');
});
