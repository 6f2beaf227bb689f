/** Everything that RFC 9110, 5.5 keeps out of the value of a field: control characters, and what is more than a byte. */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The headers, lower-cased: names are case-insensitive, object keys are not, and a caller's `Authorization` would be sent beside ours.
 *
 * A value that no header can have is refused here, without being shown: the runtimes put it into their own message, and it may be a key.
 *
 * @throws TypeError before anything is sent
 */
export function headersOf(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!FORBIDDEN.test(value)) return [name.toLowerCase(), value];
      throw new TypeError(`The header "${name}" has a line break or another character that no header can have.`);
    }),
  );
}
