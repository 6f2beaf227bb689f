import type { FieldError } from '@tallygate/contract';
import type * as z from 'zod';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Problem } from '../../kernel/problem.ts';
import type { JsonBody } from './body.ts';

/** What zod and Standard Schema both say of one fault. */
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  /** With `unrecognized_keys`: the fields that should not be there. */
  readonly keys?: readonly string[];
  /** With `invalid_union`: what is wrong with each of the forms. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** The faults found in each part of a request. */
export type Faults = Partial<Record<FaultyPart, { readonly issues: readonly Issue[] } | null>>;
type FaultyPart = 'path' | 'header' | 'query' | 'body';

const PARTS: readonly FaultyPart[] = ['path', 'header', 'query', 'body'];

/** A body with more values is checked up to its first fault only: a million wrong values take a second to say so, each for itself. */
const MANY_VALUES = 1_000;

/** Zod’s own `validate` is run with it. It is left out of the types of `safeParse`, which passes it on; a test checks that it still does so. */
const UP_TO_FIRST_FAULT: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/** @throws Problem `validation_failed` */
export function checkedBody<Schema extends z.ZodType>(
  schema: Schema,
  { value, values }: Pick<JsonBody, 'value' | 'values'>,
): z.infer<Schema> {
  const parsed = values > MANY_VALUES ? schema.safeParse(value, UP_TO_FIRST_FAULT) : schema.safeParse(value);
  if (!parsed.success) throw validationProblem({ body: parsed.error });
  return parsed.data;
}

/** Whether a body has so many values that {@link checkedBody} stops at its first fault. */
export const isCheckedUpToFirstFault = ({ values }: Pick<JsonBody, 'values'>): boolean => values > MANY_VALUES;

/** All faults of a request as one 422. Their words are the contract's own (`contract/src/plain-words.ts`). */
export const validationProblem = (faults: Faults): Problem =>
  invalidInput(PARTS.flatMap((part) => faults[part]?.issues.flatMap((issue) => toFieldErrors(part, issue)) ?? []));

function toFieldErrors(part: FaultyPart, issue: Issue): FieldError[] {
  const { message, path = [], code = 'invalid', keys } = issue;
  const meant = code === 'invalid_union' ? formMeant(issue) : undefined;
  if (meant) return meant.flatMap((inner) => toFieldErrors(part, { ...inner, path: [...path, ...(inner.path ?? [])] }));
  const loc = [part, ...path.map((step) => toLocation(typeof step === 'object' ? step.key : step))];
  // One entry for each field that should not be there, at the field and not at the object around it.
  if (code === 'unrecognized_keys' && keys)
    return keys.map((key) => ({ loc: [...loc, toLocation(key)], msg: 'is not a known field', type: code }));
  return [{ loc, msg: message, type: code }];
}

/** Of the forms that a field may have the one that has the fields which were sent: its faults lie deeper, and say what to do. */
function formMeant({ errors = [] }: Issue): readonly Issue[] | undefined {
  const meant = errors.filter((issues) =>
    issues.every(({ path = [], code }) => path.length > 0 && !(path.length === 1 && code === 'invalid_type')),
  );
  return meant.length === 1 ? meant[0] : undefined;
}

/** An unknown name from the caller is shown up to a useful length. */
const LONGEST_STEP = 100;

const toLocation = (step: PropertyKey): string | number => {
  if (typeof step === 'number') return step;
  const name = String(step);
  return name.length > LONGEST_STEP ? `${name.slice(0, LONGEST_STEP)}…` : name;
};
