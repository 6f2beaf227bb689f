import type { FieldError } from '@tallygate/contract';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Problem } from '../../kernel/problem.ts';

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

/** All faults of a request as one 422. Their words are the contract's own (`contract/src/plain-words.ts`). */
export const validationProblem = (faults: Faults): Problem =>
  invalidInput(PARTS.flatMap((part) => faults[part]?.issues.flatMap((issue) => toFieldErrors(part, issue)) ?? []));

function toFieldErrors(part: FaultyPart, issue: Issue): FieldError[] {
  const { message, path = [], code = 'invalid', keys } = issue;
  const meant = code === 'invalid_union' ? formMeant(issue) : undefined;
  if (meant) return meant.flatMap((inner) => toFieldErrors(part, { ...inner, path: [...path, ...(inner.path ?? [])] }));
  const loc = [part, ...path.map((step) => toLocation(typeof step === 'object' ? step.key : step))];
  // One entry for each field that should not be there, at the field and not at the object around it.
  if (code === 'unrecognized_keys' && keys) return keys.map((key) => ({ loc: [...loc, key], msg: 'is not a known field', type: code }));
  return [{ loc, msg: message, type: code }];
}

/** Of the forms that a field may have the one that has the fields which were sent: its faults lie deeper, and say what to do. */
function formMeant({ errors = [] }: Issue): readonly Issue[] | undefined {
  const meant = errors.filter((issues) =>
    issues.every(({ path = [], code }) => path.length > 0 && !(path.length === 1 && code === 'invalid_type')),
  );
  return meant.length === 1 ? meant[0] : undefined;
}

const toLocation = (step: PropertyKey): string | number => (typeof step === 'number' ? step : String(step));
