const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g;

/** The rows of a file by RFC 4180, under the names of its first. */
export function csvRows(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  for (const [all, quoted, plain, end] of text.trimEnd().matchAll(CELL)) {
    if (all === '' && rows.at(-1)?.length === 0) break;
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
    else if (end === '') break;
  }
  const [names = [], ...rest] = rows;
  return rest.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
}
