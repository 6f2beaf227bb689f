import type { SourceFile } from './source-file.ts';

/**
 * Files of production code that import each other in a circle, types included, one circle of each knot of them: `a.ts → b.ts → a.ts`.
 * Files in a circle cannot be understood, tested or moved one at a time.
 */
export function fileCycles(files: readonly SourceFile[]): string[] {
  const production = new Map(files.filter(({ isTest }) => !isTest).map((file) => [file.path, file]));
  const next = (path: string) =>
    (production.get(path)?.imports ?? []).map(({ target }) => target).filter((target) => production.has(target));

  const cycles: string[] = [];
  const isDone = new Set<string>();
  const walk = (path: string, way: readonly string[]): void => {
    const again = way.indexOf(path);
    if (again >= 0) cycles.push([...way.slice(again), path].join(' → '));
    if (again >= 0 || isDone.has(path)) return;
    for (const target of next(path)) walk(target, [...way, path]);
    isDone.add(path);
  };
  for (const path of [...production.keys()].sort()) walk(path, []);
  return cycles;
}
