import { describe, expect, test } from 'vitest';
import { parseDisposition } from './disposition.ts';
import { MalformedMultipart } from './parts.ts';

const filenameOf = (parameter: string) => parseDisposition(`form-data; name="file"; ${parameter}`).filename;

describe('what a part is called', () => {
  test.each([
    ['form-data; name="purpose"', { name: 'purpose', filename: undefined }],
    ['form-data; name=purpose', { name: 'purpose', filename: undefined }],
    ['Form-Data;NAME="a b;c";filename="x.txt"', { name: 'a b;c', filename: 'x.txt' }],
    ['form-data; name="image[]"; filename=x.png', { name: 'image[]', filename: 'x.png' }],
    ['form-data; name="a%22b"; filename="q\\"uo%22te.txt"', { name: 'a"b', filename: 'q"uo"te.txt' }],
    ['form-data; name="日本"; filename="Überblick – 日本.txt"', { name: '日本', filename: 'Überblick – 日本.txt' }],
  ])('%s', (header, expected) => expect(parseDisposition(header)).toEqual(expected));

  test.each([
    [undefined],
    [''],
    ['attachment; name="a"'],
    ['form-data'],
    ['form-data; name=""'],
    ['form-data; filename="a"'],
    ['form-data; name="a"; name="b"'],
    ['form-data; name="a"; filename="b"; filename="c"'],
    ['form-data; name="a'],
    ['form-data; name="a" junk'],
    ['form-data-x; name="a"'],
  ])('is refused when it cannot be told: %s', (header) => expect(() => parseDisposition(header)).toThrow(MalformedMultipart));

  test('takes no time that grows with the square of its length', () => {
    const started = process.threadCpuUsage().user;
    expect(() => parseDisposition(`form-data; name="${'\\'.repeat(8_000)}`)).toThrow(MalformedMultipart);
    expect(() => parseDisposition(`form-data${'; '.repeat(4_000)}`)).toThrow(MalformedMultipart);
    expect(process.threadCpuUsage().user - started).toBeLessThan(200_000);
  });
});

describe('a file name', () => {
  test.each([
    ['filename="../../etc/passwd"', 'passwd'],
    ['filename="/etc/passwd"', 'passwd'],
    ['filename="C:\\Users\\ada\\x.jsonl"', 'x.jsonl'],
    ['filename="..\\..\\x"', 'x'],
    ['filename=".."', null],
    ['filename="a/.."', null],
    ['filename="dir/"', null],
    ['filename=""', null],
    ['filename="   "', null],
    ['filename="a%0D%0ASet-Cookie: x=1"', 'aSet-Cookie: x=1'],
    ['filename="a\u0085b\u007f.txt"', 'ab.txt'],
    ['filename="invoice\u202Etxt.exe"', 'invoicetxt.exe'],
    ['filename="plain.txt"; filename*=UTF-8\'\'%E2%82%AC.txt', '€.txt'],
    ['filename="plain.txt"; filename*=UTF-8\'\'%E2%82', 'plain.txt'],
    ["filename*=UTF-8'en'..%2F..%2Fx%0d%0a", 'x'],
  ])('is nobody’s path and one line: %s', (parameter, expected) => expect(filenameOf(parameter)).toBe(expected));

  test('keeps its extension when it is too long', () => {
    const name = filenameOf(`filename="${'日'.repeat(400)}.jsonl"`);
    expect([...(name ?? '')]).toHaveLength(255);
    expect(name?.endsWith('日.jsonl')).toBe(true);
  });
});
