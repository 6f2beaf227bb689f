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
}

/** The faults found in each part of a request. */
export type Faults = Partial<Record<FaultyPart, { readonly issues: readonly Issue[] } | null>>;
type FaultyPart = 'path' | 'header' | 'query' | 'body';

const PARTS: readonly FaultyPart[] = ['path', 'header', 'query', 'body'];

/** All faults of a request as one 422. Their words are the contract's own (`contract/src/plain-words.ts`). */
export const validationProblem = (faults: Faults): Problem =>
  invalidInput(PARTS.flatMap((part) => faults[part]?.issues.flatMap((issue) => toFieldErrors(part, issue)) ?? []));

function toFieldErrors(part: FaultyPart, { message, path = [], code = 'invalid', keys }: Issue): FieldError[] {
  const loc = [part, ...path.map((step) => toLocation(typeof step === 'object' ? step.key : step))];
  // One entry for each field that should not be there, at the field and not at the object around it.
  if (code === 'unrecognized_keys' && keys) return keys.map((key) => ({ loc: [...loc, key], msg: 'is not a known field', type: code }));
  return [{ loc, msg: message, type: code }];
}

const toLocation = (step: PropertyKey): string | number => (typeof step === 'number' ? step : String(step));
