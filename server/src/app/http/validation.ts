import type { FieldError } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';

const MAX_ERRORS = 50;

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

/** All faults of a request as one 422; the first is in the detail too, for people who only see that. */
export function validationProblem(faults: Faults): Problem {
  const errors = PARTS.flatMap((part) => faults[part]?.issues.flatMap((issue) => toFieldErrors(part, issue)) ?? []);
  const [first] = errors;
  const where = first ? first.loc.join('.') : 'the request';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : '';
  const param = first && first.loc.length > 1 ? inOpenAiNotation(first.loc.slice(1)) : undefined;
  return new Problem('validation_failed', `${where}: ${first?.msg ?? 'invalid'}${more}.`, {
    errors: errors.slice(0, MAX_ERRORS),
    ...(param && { param }),
  });
}

function toFieldErrors(part: FaultyPart, { message, path = [], code = 'invalid', keys }: Issue): FieldError[] {
  const loc = [part, ...path.map((step) => toLocation(typeof step === 'object' ? step.key : step))];
  // One entry for each field that should not be there, at the field and not at the object around it.
  if (code === 'unrecognized_keys' && keys) return keys.map((key) => ({ loc: [...loc, key], msg: 'Unknown field', type: code }));
  return [{ loc, msg: message, type: code }];
}

const toLocation = (step: PropertyKey): string | number => (typeof step === 'number' ? step : String(step));

/** `messages[0].role` */
const inOpenAiNotation = (steps: readonly (string | number)[]): string =>
  steps.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${step}` : step), '');
