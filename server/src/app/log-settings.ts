import { fromVerifierKey } from '@tallygate/receipts';
import * as z from 'zod';
import { httpUrl } from './http-url.ts';

/** Addresses of witnesses with their verifier keys, a space between the two, by commas. */
export const witnesses = z.string().transform((text, context) =>
  text.split(',').flatMap((entry) => {
    const [url = '', verifierKey = '', ...more] = entry.trim().split(/\s+/);
    const key = fromVerifierKey(verifierKey);
    if (key?.kind === 'cosignature' && more.length === 0 && httpUrl.safeParse(url).success) return [{ url, key }];
    context.addIssue('Expected the address of a witness, a space and its verifier key (name+id+key), or several of these by commas');
    return [];
  }),
);

/** Addresses of time-stamping authorities, by commas. */
export const authorities = z.string().transform((text, context) => {
  const urls = text.split(',').map((entry) => entry.trim());
  if (!urls.every((url) => httpUrl.safeParse(url).success) || new Set(urls).size < urls.length)
    context.addIssue('Expected the address of a time-stamping authority (RFC 3161), or several different ones by commas');
  return urls;
});
