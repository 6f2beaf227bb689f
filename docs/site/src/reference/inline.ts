/** A sentence of the contract as HTML: code in backquotes, nothing else. */
export const inline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

/** The same, with error codes leading to their pages. */
export const withErrorLinks = (text: string, codes: ReadonlySet<string>): string =>
  escapeHtml(text).replaceAll(/`([^`]+)`/g, (_, code: string) =>
    codes.has(code) ? `<a href="/docs/errors/${code}"><code>${code}</code></a>` : `<code>${code}</code>`,
  );

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
