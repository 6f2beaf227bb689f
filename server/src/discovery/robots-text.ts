/**
 * What search engines and other crawlers may read (RFC 9309): the documentation and what the gateway says of itself. Not the
 * API, and not the pages that links in mails lead to.
 */
export const ROBOTS_TEXT = `User-agent: *
Allow: /$
Allow: /docs/
Allow: /llms.txt
Allow: /llms-full.txt
Allow: /agents.md
Allow: /openapi.json
Allow: /openapi.yaml
Allow: /.well-known/
Disallow: /
`;
