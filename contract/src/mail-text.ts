import * as z from 'zod';
import { isPlainText, NOT_PLAIN } from './conventions.ts';

const wellFormed = (text: string) => text.isWellFormed() && !text.includes('\u0000');
const NOT_WELL_FORMED = 'must not contain null characters';

/** What is written like a variable. */
const PLACE = /\{\{[^{}]*\}\}/g;
const VARIABLE = /^\{\{\s*[a-z][a-z0-9_]*\s*(?:\|.*)?\}\}$/s;

/** Whether each text between double braces is known (`isKnown`): anything else would be sent unreplaced. */
export const hasPlacesLike = (text: string, isKnown: RegExp): boolean => (text.match(PLACE) ?? []).every((place) => isKnown.test(place));

const hasVariables = (text: string) => hasPlacesLike(text, VARIABLE);
const NO_VARIABLE = 'must have nothing between double braces but variables, written like {{first_name}} or {{first_name|there}}';

/** The words of a marketing mail. */
export const mailText = {
  subject: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .refine(isPlainText, NOT_PLAIN)
    .refine(hasVariables, NO_VARIABLE)
    .meta({ description: 'May hold variables, as the bodies.', examples: ['{{first_name|Hello}}, the beta is open'] }),
  text: z
    .string()
    .min(1)
    .max(100_000)
    .refine(wellFormed, NOT_WELL_FORMED)
    .refine(hasVariables, NO_VARIABLE)
    .meta({
      description:
        'The plain part. `{{name}}`, `{{first_name}}`, `{{company}}`, `{{email}}`, `{{unsubscribe_url}}` and those of `variables` are filled in; `{{first_name|there}}` gives the text for a value that is not known.',
      examples: ['Hi {{first_name|there}},\n\ncome in: {{link}}\n'],
    }),
  html: z
    .string()
    .min(1)
    .max(200_000)
    .refine(wellFormed, NOT_WELL_FORMED)
    .refine(hasVariables, NO_VARIABLE)
    .meta({
      description: 'The HTML part, in which values are escaped; generated from the text if left out.',
      examples: ['<p>Hi {{first_name|there}}, <a href="{{link}}">come in</a>.</p>'],
    }),
  variables: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a lower-case name'),
      z.string().max(2_000).refine(wellFormed, NOT_WELL_FORMED),
    )
    .meta({ description: 'Further variables, the same for everybody.', examples: [{ link: 'https://example.com/beta' }] }),
};
