const BEGINS_PAGE = /^\ufeff?\s*<(?:!doctype\s+html|html|head|body|title|!--|\?xml)/i;
const LONGEST_BEGINNING = 16;
/** Blanks in front of a page. */
const MOST_BYTES = 4 * 1024;

/** Whether a body may be a page for a browser, by its head. */
export const mayBePage = (contentType: string | null): boolean => /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType ?? '');

/**
 * Whether it is one; undefined while that cannot be told. Some servers name everything a page that they answer, their JSON among it: what it
 * says of itself is not believed.
 */
export function isPage(begun: Buffer): boolean | undefined {
  const text = begun.toString('utf8', 0, MOST_BYTES);
  if (BEGINS_PAGE.test(text)) return true;
  return text.trimStart().length < LONGEST_BEGINNING && begun.length < MOST_BYTES ? undefined : false;
}
