/** A route as far as its address goes; parameters are `:name` segments. */
interface Addressed {
  readonly method: string;
  readonly path: string;
}

/** Knows every path of the service and which methods it has, before any route runs. */
export interface PathTable {
  /** The methods of a path, `undefined` for a path that is not part of the service. */
  methodsOf(pathname: string): ReadonlySet<string> | undefined;
}

interface Entry {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** Paths match exactly: case, and no slash at the end. */
export function createPathTable(routes: readonly Addressed[]): PathTable {
  const fixed = new Map<string, Set<string>>();
  const withParameters = new Map<string, Entry>();
  for (const { method, path } of routes) {
    const entry = path.includes('/:') ? withParameters.get(path) : undefined;
    const methods = entry?.methods ?? fixed.get(path) ?? new Set<string>();
    methods.add(method);
    // A GET answers HEAD as well, without the body.
    if (method === 'GET') methods.add('HEAD');
    if (path.includes('/:')) withParameters.set(path, { segments: path.split('/'), methods });
    else fixed.set(path, methods);
  }
  const entries = [...withParameters.values()];
  return {
    methodsOf(pathname) {
      const exact = fixed.get(pathname);
      const segments = pathname.split('/');
      const matching = entries.filter((entry) => matches(entry.segments, segments));
      if (matching.length === 0) return exact;
      return new Set([...(exact ?? []), ...matching.flatMap(({ methods }) => [...methods])]);
    },
  };
}

const matches = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((expected, index) => {
    const segment = segments[index] ?? '';
    return expected.startsWith(':') ? segment !== '' && isDecodable(segment) : expected === segment;
  });

/** Whether a step of a path is percent-encoded as it should be. */
export function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

/** What stands in a pathname for the parameters of a route's path; undefined where it is another path, or cannot be decoded. */
export function paramsIn(path: string, pathname: string): Record<string, string> | undefined {
  const pattern = path.split('/');
  const segments = pathname.split('/');
  if (!matches(pattern, segments)) return undefined;
  return Object.fromEntries(
    pattern.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), decodeURIComponent(segments[index] ?? '')]] : [])),
  );
}

/** The path of a request target, without its query. */
export function pathnameOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}
