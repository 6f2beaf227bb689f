/** As a shell takes it for one word. */
export const quoted = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What a column or a setting has where nothing is said. */
export const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === false || ['', '{}', '[]', 'f', 'false', 'null'].includes(String(value).trim());
