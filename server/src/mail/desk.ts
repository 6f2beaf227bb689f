import type { SealedColumn, SecretBox } from '../kernel/secret-box.ts';
import type { Desk } from './templates.ts';

/** What a token in a mail's row is sealed as. */
const MAIL_TOKEN_CONTEXT = 'token in a mail';

/** Mails that went out or were given up are not read again. */
export const SEALED_MAIL_TOKENS: SealedColumn = {
  select: `select id, data->>'sealed_token' as sealed from mails
            where sent_at is null and failed_at is null and data ? 'sealed_token' for update`,
  update: `update mails set data = jsonb_set(data, '{sealed_token}', to_jsonb($2::text)) where id = $1`,
  contextOf: () => MAIL_TOKEN_CONTEXT,
};

/** Seals a token for a mail's row: until the mail is sent, a reader of the table must not be able to use it. */
export const sealForMail = (box: SecretBox, token: string): string => box.seal(token, MAIL_TOKEN_CONTEXT);

/** What a reference in a mail's link is sealed as. */
const REFERENCE_CONTEXT = 'reference in a link';

/**
 * What a sealed link refers to: it proves that its bearer has the mail, or got the link from its reader.
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
