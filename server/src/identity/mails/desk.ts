import type { SecretBox } from '../secret-box.ts';
import type { Desk } from './templates.ts';

/** What a token in a mail's row is sealed as. */
export const MAIL_TOKEN_CONTEXT = 'token in a mail';

/** Seals a token for a mail's row: until the mail is sent, whoever reads the table must not be able to use it. */
export const sealForMail = (box: SecretBox, token: string): string => box.seal(token, MAIL_TOKEN_CONTEXT);

/** @param webUrl base of the web front end's addresses, without a slash at the end */
export const createDesk = (box: SecretBox, webUrl: () => string): Desk => ({
  link: (path, query) => {
    const search = new URLSearchParams(query).toString();
    return `${webUrl()}${path}${search && `?${search}`}`;
  },
  unseal: (sealed) => box.open(sealed, MAIL_TOKEN_CONTEXT).plain,
});
