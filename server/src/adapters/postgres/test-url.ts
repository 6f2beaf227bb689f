/** The same server and the same way to it, and another database. For tests only. */
export function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

export const databaseOf = (url: string): string => new URL(url).pathname.slice(1);
