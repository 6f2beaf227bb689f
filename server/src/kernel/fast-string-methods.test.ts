import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** In a process of its own: what V8 has made of `String.prototype` lasts as long as the process. */
const PROGRAM = `
  const { restoreFastStringMethods } = await import(${JSON.stringify(new URL('fast-string-methods.ts', import.meta.url).href)});
  class Text extends String {}
  new Text('x');
  const before = %HasFastProperties(String.prototype);
  restoreFastStringMethods();
  console.log([before, %HasFastProperties(String.prototype)].join());
`;

test('string methods are compiled inline again after a class has extended String', () => {
  const said = execFileSync(process.execPath, ['--allow-natives-syntax', '--input-type=module', '--eval', PROGRAM], { encoding: 'utf8' });
  expect(said.trim()).toBe('false,true');
});
