import { posix } from 'node:path';
import { parseSync } from 'vite';

export interface Import {
  /** From the repository's root for relative imports (`server/src/kernel/ids.ts`), else as written (`node:fs`, `pino`). */
  readonly target: string;
  /** Removed by type stripping: it has no effect on initialisation and loads no code. */
  readonly isType: boolean;
  readonly line: number;
}

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  /** The text with comments blanked, so that what is merely mentioned is not found. Lines and columns stay. */
  readonly code: string;
  readonly lineCount: number;
  readonly imports: readonly Import[];
  /** Tests and test helpers; they may import anything. */
  readonly isTest: boolean;
}

const TEST_FILE = /(\.test|\.setup)\.ts$|\/test-[^/]+\.ts$|\/(testing|faults)\//;
/** A file that imports one of these is for tests, whatever its name; production code must not import it. */
const TEST_PACKAGES = new Set(['vitest', 'fast-check', '@tallygate/fake-upstream']);
const TYPE_IMPORT = /\bimport\(\s*(['"])(?<specifier>[^'"]+)\1\s*\)/g;

/** Reads the imports of a TypeScript module: static, re-exported, dynamic with a literal, and `import('…').Type`. */
export function readSource(path: string, text: string): SourceFile {
  const { module, comments, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const code = comments.reduce((kept, { start, end }) => kept.slice(0, start) + blank(kept.slice(start, end)) + kept.slice(end), text);
  const imports: Import[] = [];
  const add = (specifier: string, isType: boolean, at: number) =>
    imports.push({ target: resolve(path, specifier), isType, line: text.slice(0, at).split('\n').length });

  for (const { moduleRequest, entries, start } of module.staticImports)
    add(
      moduleRequest.value,
      entries.length > 0 ? entries.every(({ isType }) => isType) : /^import\s+type\b/.test(text.slice(start)),
      start,
    );
  for (const { entries, start } of module.staticExports)
    for (const { moduleRequest, isType } of entries) if (moduleRequest) add(moduleRequest.value, isType, start);

  const evaluated = new Set(module.dynamicImports.map(({ start }) => start));
  for (const match of code.matchAll(TYPE_IMPORT)) add(match.groups?.['specifier'] ?? '', !evaluated.has(match.index), match.index);

  const isTest = TEST_FILE.test(path) || imports.some(({ target }) => TEST_PACKAGES.has(target));
  return { path, code, lineCount: text.split('\n').length - 1, imports, isTest };
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

const resolve = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
