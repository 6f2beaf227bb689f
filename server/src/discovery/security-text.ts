import { rfc3339 } from '../kernel/clock.ts';

/** The file is renewed every day, so that it is never near its end; RFC 9116 asks for less than a year. */
const VALID_DAYS = 180;
const DAY_MS = 86_400_000;

/**
 * `/.well-known/security.txt`, RFC 9116. It ends at midnight, so that it is the same text all day.
 * @param contact a URI: `mailto:…`, `https:…` or `tel:…`
 */
export function securityText({ contact, publicUrl, now }: { contact: string; publicUrl: string; now: number }): string {
  const expires = rfc3339(Math.floor(now / DAY_MS) * DAY_MS + VALID_DAYS * DAY_MS);
  const fields = [
    ['Contact', contact],
    ['Expires', expires],
    ['Preferred-Languages', 'en'],
    ['Canonical', `${publicUrl}/.well-known/security.txt`],
  ];
  return fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}
