/** Files of the operator’s own project and storage, and YouTube’s films, which Google has by their address. */
export function isKeptAtGoogle(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
  return /(?:^|\.)(?:googleapis\.com|googleusercontent\.com|storage\.cloud\.google\.com|youtube\.com|youtu\.be|youtube-nocookie\.com)$/.test(
    host,
  );
}
