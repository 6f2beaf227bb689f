import * as z from 'zod';
import { isPlainText, NOT_PLAIN } from './conventions.ts';
import { PLAN_ID } from './plan-records.ts';

export const STAGES = ['new', 'contacted', 'qualified', 'customer', 'lost'] as const;
export const SOURCES = ['user', 'registration', 'invite', 'client_request', 'import', 'manual'] as const;

const oneOf = <const Value extends string>(values: readonly Value[], description: string, example: Value) =>
  z
    .enum(values)
    .optional()
    .meta({ description, examples: [example] });

const dimension = (description: string, example: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine(isPlainText, NOT_PLAIN)
    .optional()
    .meta({ description, examples: [example] });

const USER_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const USER_OR_NONE = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|none)$/;

/** A searchable text: a letter or digit, a tag, or any three consecutive characters. */
const SEARCHABLE = /[\p{L}\p{N}]|#\S|\S{3}/u;
const Words = z
  .string()
  .trim()
  .max(200)
  .refine(isPlainText, NOT_PLAIN)
  .refine((q) => q === '' || SEARCHABLE.test(q), 'must hold a word or a tag to look for: letters, digits, or a # with what follows it');

/** The filters for people; all given ones must match. */
const peopleFilter = {
  q: Words.optional().meta({
    description:
      'Words that are all found in e-mail address, name or company; case and accents do not matter. One or two letters have to begin a word; `#beta` finds the tag. Of one or two characters that are neither letters nor digits nothing is found, so they alone are refused.',
    examples: ['ada example.com'],
  }),
  status: oneOf([...STAGES, 'unsubscribed', 'bounced'], 'A stage, `unsubscribed` or `bounced`.', 'new'),
  source: oneOf(SOURCES, 'How they became known.', 'registration'),
  event_slug: dimension('An event they registered for.', 'vibethon'),
  owner: z
    .string()
    .trim()
    .toLowerCase()
    .regex(USER_OR_NONE, `must be the id of a user such as ${USER_ID}, or "none"`)
    .optional()
    .meta({ description: 'The id of the responsible user, or `none`.', examples: [USER_ID] }),
  client_type: dimension('Their kind of client, which an import may name as it likes, or `none`.', 'startup'),
  plan_tier: z
    .string()
    .regex(PLAN_ID, 'must be the id of a plan')
    .optional()
    .meta({ description: 'The id of the plan their account is on, or `none`.', examples: ['pro'] }),
  consent: z
    .enum(['given', 'claimed', 'none'])
    .optional()
    .meta({
      description:
        'Consent to news by mail. `given`: confirmed by the owner of the address. `none`: everybody else. `claimed`: of those, the people with consent on a form who have not answered the confirmation mail.',
      examples: ['given'],
    }),
};

/** Strict: with a dimension that is misspelt, a list of some would be one of everybody. */
export const PeopleFilter = z.strictObject(peopleFilter);
export type PeopleFilter = z.infer<typeof PeopleFilter>;

/** Whom a mail is for: a search that was left empty must not make it everybody. */
export const peopleAudience = {
  ...peopleFilter,
  q: Words.refine((q) => q !== '', 'must hold a word to look for, or be left out')
    .optional()
    .meta({ description: 'Words, as in the list of people.', examples: ['#beta'] }),
};
