import { wholeNumber } from '@tallygate/contract';
import * as z from 'zod';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** PostgreSQL stores no null characters. */
const storable = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain null characters');
const text = (max: number) => storable(max).min(1);
const optional = (max: number) => storable(max).nullish();

/** Directories say it in words, too. */
const Flag = z.union([z.boolean(), z.stringbool()]);

/** Unknown attributes are left out (RFC 7644, 3.3). */
export const ScimUser = z.object({
  userName: text(320),
  externalId: optional(255),
  displayName: optional(200),
  name: z.object({ formatted: optional(200), givenName: optional(200), familyName: optional(200) }).nullish(),
  emails: z
    .array(z.object({ value: z.email().max(320), primary: Flag.nullish(), type: optional(200) }))
    .max(20)
    .nullish(),
  active: Flag.default(true),
});
export type ScimUser = z.infer<typeof ScimUser>;

export const ScimGroup = z.object({
  displayName: text(255),
  externalId: optional(255),
  members: z
    .array(z.object({ value: z.uuid() }))
    .max(10_000)
    .default([]),
});
export type ScimGroup = z.infer<typeof ScimGroup>;

export const ScimPatch = z.object({
  Operations: z
    .array(
      z.object({
        op: z
          .string()
          .toLowerCase()
          .pipe(z.enum(['add', 'replace', 'remove'])),
        path: z.string().max(400).optional(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(1_000),
});
export type ScimPatch = z.infer<typeof ScimPatch>;

export const ScimQuery = z.object({
  filter: z.string().max(1_000).optional(),
  // Less than one is read as one, and a count below zero as zero (RFC 7644, 3.4.2.4).
  startIndex: wholeNumber(Number.MIN_SAFE_INTEGER).default(1),
  count: wholeNumber(Number.MIN_SAFE_INTEGER).default(100),
});
export type ScimQuery = z.infer<typeof ScimQuery>;
