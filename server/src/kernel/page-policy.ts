import { hash } from 'node:crypto';

interface PageContent {
  /** The text of its one `<style>`. */
  readonly style: string;
  /** The text of its one `<script>`; it may connect to this server only. */
  readonly script?: string;
  /** Where its forms may lead, origins or `'self'`; none where it has no form. */
  readonly formAction?: readonly string[];
}

/** The Content-Security-Policy of a page that loads nothing: its own style and script by their hashes, in no frame. */
export function pagePolicy({ style, script, formAction = ["'none'"] }: PageContent): string {
  const hashOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;
  return [
    "default-src 'none'",
    "base-uri 'none'",
    `form-action ${formAction.join(' ')}`,
    "frame-ancestors 'none'",
    `style-src ${hashOf(style)}`,
    ...(script === undefined ? [] : ["connect-src 'self'", `script-src ${hashOf(script)}`]),
  ].join('; ');
}
