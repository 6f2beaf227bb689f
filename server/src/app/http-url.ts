import * as z from 'zod';

/** An http or https URL without credentials and without a slash at its end. */
export const httpUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', 'Credentials do not belong in a URL')
  .transform((text) => text.replace(/\/+$/, ''));
