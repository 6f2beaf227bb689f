import type { SecretBox } from '../secret-box.ts';
import type { Desk } from './templates.ts';

/** What a token in a mail's row is sealed as. */
export const MAIL_TOKEN_CONTEXT = 'token in a mail';

/** Seals a token for a mail's row: until the mail is sent, whoever reads the table must not be able to use it. */
export const sealForMail = (box: SecretBox, token: string): string => box.seal(token, MAIL_TOKEN_CONTEXT);

/** What a reference in a mail's link is sealed as. */
const REFERENCE_CONTEXT = 'reference in a link';

/**
 * What a sealed link refers to: it proves that its bearer has the mail, or whatever the link was passed on by.
 * @returns undefined for what was not sealed here
 */
export function openReference(box: SecretBox, token: string): string | undefined {
  try {
    return box.open(token, REFERENCE_CONTEXT).plain;
  } catch {
    return undefined;
  }
}

/**
 * @param webUrl base of the web front end's addresses, without a slash at the end
 * @param publicUrl the same of this server's own pages
 */
export const createDesk = (box: SecretBox, webUrl: () => string, publicUrl: () => string = webUrl): Desk => ({
  link: (path, query) => {
    const search = new URLSearchParams(query).toString();
    return `${webUrl()}${path}${search && `?${search}`}`;
  },
  sealedLink: (path, reference) => `${publicUrl()}${path}?token=${box.seal(reference, REFERENCE_CONTEXT)}`,
  unseal: (sealed) => box.open(sealed, MAIL_TOKEN_CONTEXT).plain,
});
