/** Text as it is searched: without case, accents and compatibility forms. The database's own `lower` knows ASCII alone in some locales. */
export const foldForSearch = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\s+/g, ' ').trim();

/** The one spelling of an address by which a person is known. Strictly the local part has case; no mailbox in use tells by it. */
export const normalAddress = (email: string): string => email.trim().toLowerCase();
